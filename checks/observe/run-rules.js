import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Has promtool read the alert rules, run their tests, and read every question that the dashboard asks. */

const folder = fileURLToPath(new URL('../../deploy/observe/', import.meta.url))
const tool = process.env.PROMTOOL_PATH ?? 'promtool'
if (spawnSync(tool, ['--version']).error) {
  console.error(
    'npm run rules needs promtool: install prometheus (apt install prometheus), or name it in PROMTOOL_PATH.',
  )
  process.exit(2)
}

/** The dashboard's questions, as rules that promtool can read; what Grafana fills in is filled in. */
const dashboard = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'))
const questions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const rules = questions.map((expr, at) => ({
  record: `question_${at}`,
  expr: expr.replace(/\$__rate_interval|\$__interval/g, '5m'),
}))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-rules-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const asked = join(scratch, 'dashboard.yml')
// JSON is YAML.
writeFileSync(asked, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))

const checks = [
  ['check', 'rules', join(folder, 'alerts.yml')],
  ['test', 'rules', join(folder, 'alerts.test.yml')],
  ['check', 'rules', asked],
]
let hasFailed = questions.length === 0
for (const args of checks) {
  hasFailed = spawnSync(tool, args, { stdio: 'inherit' }).status !== 0 || hasFailed
}
process.exit(hasFailed ? 1 : 0)
