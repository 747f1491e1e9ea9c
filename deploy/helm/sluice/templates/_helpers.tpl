{{- define "sluice.name" -}}
{{- default (ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name)) .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "sluice.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.serviceAccount" -}}
{{- default (include "sluice.name" .) .Values.serviceAccount.name -}}
{{- end }}

{{- define "sluice.image" -}}
{{- $repository := required "image.repository must be set: build deploy/container/Containerfile and push it to a registry of yours" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- define "sluice.secret" -}}
{{- required "secrets.existingSecret must name a Secret with database-url, database-owner-url and secret-key" .Values.secrets.existingSecret -}}
{{- end }}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What every container of the service is told; its role comes on top. */}}
{{- define "sluice.env" -}}
- { name: MODE, value: {{ .Values.mode | quote }} }
{{- if and (eq .Values.mode "live") (eq .Values.publicUrl "https://pay.example.com") }}
{{- fail "publicUrl must be set in live: the address that agents and payers see" }}
{{- end }}
- { name: PUBLIC_URL, value: {{ required "publicUrl must be set: the address that agents and payers see" .Values.publicUrl | quote }} }
- { name: TIME_ZONE, value: {{ .Values.timeZone | quote }} }
- { name: HOST, value: "0.0.0.0" }
- { name: PORT, value: "8080" }
- { name: DATA_DIR, value: /var/lib/sluice }
- { name: SECRET_KEY_FILE, value: /run/secrets/sluice/secret-key }
{{- with .Values.trustedProxies }}
- { name: TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ include "sluice.secret" . }}, key: database-url } }
{{- if .Values.secrets.metricsToken }}
- name: METRICS_TOKEN
  valueFrom: { secretKeyRef: { name: {{ include "sluice.secret" . }}, key: metrics-token } }
{{- end }}
{{- range $name, $key := .Values.secrets.env }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ include "sluice.secret" $ }}, key: {{ $key }} } }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "sluice.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secret-key, mountPath: /run/secrets/sluice, readOnly: true }
{{- end }}

{{- define "sluice.volumes" -}}
- { name: tmp, emptyDir: {} }
- name: secret-key
  secret:
    secretName: {{ include "sluice.secret" . }}
    defaultMode: 0440
    items: [{ key: secret-key, path: secret-key }]
{{- end }}

{{/* A deployment of one role, with its disruption budget. */}}
{{- define "sluice.role" -}}
{{- $role := .role }}
{{- $own := index .root.Values .role }}
{{- with .root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "sluice.name" . }}-{{ $role }}
  labels:
    {{- include "sluice.labels" . | nindent 4 }}
    app.kubernetes.io/component: {{ $role }}
spec:
  replicas: {{ $own.replicas }}
  # Processes of two versions may work side by side: a new one takes over before an old one ends.
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  selector:
    matchLabels:
      {{- include "sluice.selector" . | nindent 6 }}
      app.kubernetes.io/component: {{ $role }}
  template:
    metadata:
      labels:
        {{- include "sluice.labels" . | nindent 8 }}
        app.kubernetes.io/component: {{ $role }}
      {{- with $own.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "sluice.serviceAccount" . }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext: {{- toYaml .Values.podSecurityContext | nindent 8 }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      # It finishes what is under way for 30 s at most, after the pause below.
      terminationGracePeriodSeconds: 45
      containers:
        - name: sluice
          image: {{ include "sluice.image" . | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          args: [serve]
          securityContext: {{- include "sluice.containerSecurity" . | nindent 12 }}
          env:
            - { name: ROLE, value: {{ $role }} }
            {{- include "sluice.env" . | nindent 12 }}
          ports: [{ name: http, containerPort: 8080 }]
          # It may have to wait for the database, or for another process to vouch for it.
          startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 2, failureThreshold: 90 }
          livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 10, timeoutSeconds: 5 }
          readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 5, timeoutSeconds: 3 }
          # Until nobody sends it requests any more.
          lifecycle: { preStop: { exec: { command: [sleep, "5"] } } }
          resources: {{- toYaml $own.resources | nindent 12 }}
          volumeMounts:
            {{- include "sluice.mounts" . | nindent 12 }}
            - { name: data, mountPath: /var/lib/sluice }
      volumes:
        {{- include "sluice.volumes" . | nindent 8 }}
        - name: data
          {{- if .Values.witness.enabled }}
          persistentVolumeClaim: { claimName: {{ default (printf "%s-witness" (include "sluice.name" .)) .Values.witness.existingClaim }} }
          {{- else }}
          emptyDir: {}
          {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "sluice.selector" . | nindent 14 }}
              app.kubernetes.io/component: {{ $role }}
      {{- with $own.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $own.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $own.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "sluice.name" . }}-{{ $role }}
  labels: {{- include "sluice.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $own.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "sluice.selector" . | nindent 6 }}
      app.kubernetes.io/component: {{ $role }}
{{- end }}
{{- end }}
