import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeSchemas } from './kubernetes-schemas.js'

/**
 * Looks at deploy/helm as its users' tools do: `helm lint`, and `helm template` read by kubeconform with the schemas of
 * Kubernetes. Both programs are built from source by Go, and the schemas come with a module of Kubernetes, so nothing is
 * fetched but by the name of a module, and nothing at all on the next run.
 */

const versions = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.19.2',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0',
  kubernetes: 'k8s.io/kubernetes@v1.34.2',
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const chart = join(root, 'deploy/helm/sluice')
const tools = join(root, 'build/helm-tools')

function giveUp(words) {
  console.error(words)
  process.exit(2)
}

if (spawnSync('go', ['version']).status !== 0) {
  giveUp(
    'npm run helm builds helm and kubeconform, which needs Go 1.24 or newer; there is none in PATH.',
  )
}

function go(args, env = {}) {
  const ran = spawnSync('go', args, {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (ran.status !== 0) giveUp(`go ${args.join(' ')} failed:\n${ran.stderr || ran.stdout}`)
  return ran.stdout
}

for (const name of ['helm', 'kubeconform']) {
  if (existsSync(join(tools, name))) continue
  console.log(`building ${versions[name]}; this takes minutes, once`)
  go(['install', versions[name]], { GOBIN: tools })
}
const { Dir } = JSON.parse(go(['mod', 'download', '-json', versions.kubernetes]))

const scratch = mkdtempSync(join(tmpdir(), 'sluice-helm-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const schemas = join(scratch, 'schemas')
writeSchemas(join(Dir, 'api/openapi-spec/swagger.json'), schemas)

const faults = []
function check(what, holds) {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`)
  if (!holds) faults.push(what)
}

function helm(...args) {
  return spawnSync(join(tools, 'helm'), args, { encoding: 'utf8', maxBuffer: 1 << 26 })
}

function conform(manifests) {
  const location = join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json')
  const args = ['-strict', '-summary', '-schema-location', location]
  return spawnSync(join(tools, 'kubeconform'), args, { input: manifests, encoding: 'utf8' })
}

for (const file of readdirSync(here).filter((name) => name.endsWith('.yaml'))) {
  const values = ['-f', join(here, file)]
  const lint = helm('lint', '--strict', chart, ...values)
  check(`helm lint --strict, ${file}`, lint.status === 0)
  if (lint.status !== 0) console.log(lint.stdout + lint.stderr)
  const made = helm('template', 'pay', chart, '--namespace', 'payments', ...values)
  if (made.status !== 0) console.log(made.stderr)
  const found = conform(made.stdout)
  check(`helm template, ${file}: ${found.stdout.trim()}`, made.status === 0 && found.status === 0)
  if (found.status !== 0) console.log(found.stderr)
  lookAtPods(made.stdout, file)
}

/** What no schema asks for, of every pod. */
function lookAtPods(manifests, file) {
  const pods = manifests.split(/^---$/m).filter((each) => /^kind: (Deployment|Job)$/m.test(each))
  const all = (text) => pods.length > 0 && pods.every((pod) => pod.includes(text))
  for (const text of [
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'allowPrivilegeEscalation: false',
    'drop: [ALL]',
    'type: RuntimeDefault',
    'automountServiceAccountToken: false',
    'resources:',
  ]) {
    check(`${file}: each of ${pods.length} pods has ${text}`, all(text))
  }
  const serving = pods.filter((pod) => /^kind: Deployment$/m.test(pod))
  check(`${file}: an api and a worker`, serving.length === 2)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe', 'preStop']) {
    check(
      `${file}: both have ${probe}`,
      serving.every((pod) => pod.includes(probe)),
    )
  }
  // The owner's login is for migrations alone.
  check(`${file}: no process knows the owner's login`, !serving.join('').includes('owner-url'))
}

// The checks would notice: a field that there is none of, and settings that are missing or secret.
const least = ['-f', join(here, 'values-least.yaml')]
const typo = helm('template', 'pay', chart, ...least).stdout.replace('replicas:', 'replica:')
check('a field that Kubernetes does not know is refused', conform(typo).status !== 0)
for (const [name, given] of Object.entries({
  publicUrl: ['--set', 'mode=live'],
  'image.repository': ['--set', 'image.repository='],
  'secrets.existingSecret': ['--set', 'secrets.existingSecret='],
})) {
  const refused = helm('template', 'pay', chart, ...given)
  check(`${name} has to be given, and that is said`, refused.stderr.includes(`${name} must`))
}
const secret = helm('template', 'pay', chart, ...least, '--set', 'settings.METRICS_TOKEN=x')
check('a secret among the settings is refused', secret.status !== 0)

if (faults.length > 0) {
  console.error(`${faults.length} checks failed`)
  process.exit(1)
}
