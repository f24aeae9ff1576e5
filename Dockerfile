# docker build -t seqgate .                      without the demo's engine
# docker build -t seqgate --build-arg TAGS= .      with it
FROM golang:1.26 AS build
ARG TAGS=slim
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -tags "$TAGS" -o /seqgate ./cmd/seqgate

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /seqgate /seqgate
USER 65532:65532
EXPOSE 3307
ENTRYPOINT ["/seqgate"]
CMD ["serve", "--config", "/etc/seqgate/seqgate.yaml"]
