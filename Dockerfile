# docker build -t seqgate .                      without the demo's engine
# docker build -t seqgate --build-arg TAGS= .      with it
# --build-arg VERSION=v1.2.3 is what seqgate version prints: the repository is not copied, which tells it elsewhere.
FROM golang:1.26 AS build
ARG TAGS=slim
ARG VERSION=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -tags "$TAGS" -ldflags "-s -w -X main.release=$VERSION" -o /seqgate ./cmd/seqgate

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /seqgate /seqgate
USER 65532:65532
EXPOSE 3307
# There is no shell: the program asks itself, at the admin address of its configuration or as a client.
HEALTHCHECK --interval=5s --timeout=4s --start-period=10s CMD ["/seqgate", "health", "--config", "/etc/seqgate/seqgate.yaml"]
ENTRYPOINT ["/seqgate"]
CMD ["serve", "--config", "/etc/seqgate/seqgate.yaml"]
