{{- define "seqgate.labels" -}}
{app.kubernetes.io/name: seqgate, app.kubernetes.io/instance: {{ .Release.Name | quote }}}
{{- end }}
