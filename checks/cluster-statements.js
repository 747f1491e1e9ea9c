import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

/**
 * Lays every statement that the service sends beside the shapes that a Citus cluster refuses: `npm run
 * cluster-statements`. Statements are collected while all tests run; with a folder of an earlier collection
 * (KEEP_STATEMENTS=folder npm test) it is only read.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const [given] = process.argv.slice(2)
const folder = given ?? mkdtempSync(join(tmpdir(), 'sluice-statements-'))
if (given === undefined) {
  const { status } = spawnSync('npm', ['test'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, KEEP_STATEMENTS: folder },
  })
  if (status !== 0) process.exit(status ?? 1)
}

const file = join(root, 'server/test/support/citus-shapes.ts')
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' })
await module.loadShapes()
const migrations = join(root, 'server/src/db/migrations')
const sql = readdirSync(migrations).map((name) => readFileSync(join(migrations, name), 'utf8'))
const tables = new Set(
  [...sql.join('\n').matchAll(/create table (?:if not exists )?(?:sluice\.)?(\w+)/g)].map(
    ([, name]) => name,
  ),
)
const statements = new Set(
  readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n').map(JSON.parse),
  ),
)
let refused = 0
for (const statement of statements) {
  const shapes = module.refusedShapes(statement, tables)
  if (shapes.length === 0) continue
  refused++
  for (const shape of shapes) console.log(module.shapes[shape])
  console.log(statement.replace(/^/gm, '  '), '\n')
}
console.log(`${statements.size} statements, of which a cluster would refuse ${refused}.`)
process.exitCode = refused === 0 ? 0 : 1
