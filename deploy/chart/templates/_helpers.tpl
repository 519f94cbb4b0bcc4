{{- define "pacer.labels" -}}
app.kubernetes.io/name: pacer
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pacer.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* What all pods have: no token of the API, and no variables of Services, which look like keys of the configuration. */}}
{{- define "pacer.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where pods of a kind go: what values say of it. */}}
{{- define "pacer.where" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- end }}

{{/* Pods start anew with another configuration. */}}
{{- define "pacer.annotations" -}}
{{- $all := dict }}
{{- with .root.Values.config }}
{{- $_ := set $all "sparkpacer/config" (toJson . | sha256sum) }}
{{- end }}
{{- with merge $all .own }}
annotations: {{ toJson . }}
{{- end }}
{{- end }}
