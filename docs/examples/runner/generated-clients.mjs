import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { folder } from './programs.mjs'

/** What is fetched by name when it is needed, and never kept in the repository. */
const versions = {
  typescript: [
    'openapi-typescript@7.13.0',
    'openapi-fetch@0.17.0',
    'typescript@5.9.3',
    '@types/node@20',
  ],
  python: 'openapi-python-client==0.29.1',
  go: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1',
  redocly: '@redocly/cli@2.73.0',
  spectral: '@stoplight/spectral-cli@6.16.3',
}
/** Unpruned: it would leave out the shapes that only callbacks have. */
const goSettings = `package: sluice
generate: { client: true, models: true }
output: sluice/client.gen.go
output-options: { skip-prune: true }
`
const limitMs = 900_000

/**
 * Clients are made from the service's own description, compiled, and pay an order; the descriptions are read by two
 * linters. Each takes a folder of its own, the description's text and the agent's environment, and says what it saw.
 */
export const generatedClients = {
  openapi: { check: lintDescriptions },
  'client-ts': { check: payInTypeScript },
  'client-py': { tools: ['python3'], packages: ['python3', 'python3-venv'], check: payInPython },
  'client-go': { tools: ['go'], packages: ['golang-go'], check: payInGo },
}

async function payInTypeScript(at, descriptions, env) {
  writeFileSync(join(at, 'package.json'), '{"private":true,"type":"module"}')
  writeFileSync(join(at, 'openapi.json'), descriptions.agents)
  copyFileSync(join(folder, 'generated/pay-order.ts'), join(at, 'pay-order.ts'))
  await run(at, ['npm', 'install', '--no-audit', '--no-fund', ...versions.typescript])
  await run(at, ['npx', 'openapi-typescript', 'openapi.json', '-o', 'schema.d.ts'])
  const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node']
  await run(at, ['npx', 'tsc', ...strict, 'pay-order.ts'])
  return paid(await run(at, [process.execPath, 'pay-order.js'], env))
}

async function payInPython(at, descriptions, env) {
  writeFileSync(join(at, 'openapi.json'), descriptions.agents)
  copyFileSync(join(folder, 'generated/pay_order.py'), join(at, 'pay_order.py'))
  await run(at, ['python3', '-m', 'venv', 'venv'])
  await run(at, ['venv/bin/pip', 'install', '-q', versions.python])
  const generate = ['generate', '--path', 'openapi.json', '--meta', 'none']
  await run(at, ['venv/bin/openapi-python-client', ...generate, '--output-path', 'sluice_client'])
  return paid(await run(at, ['venv/bin/python', 'pay_order.py'], env))
}

async function payInGo(at, descriptions, env) {
  mkdirSync(join(at, 'sluice'))
  writeFileSync(join(at, 'openapi.json'), descriptions.agents)
  copyFileSync(join(folder, 'generated/pay_order.go'), join(at, 'main.go'))
  writeFileSync(join(at, 'generate.yaml'), goSettings)
  await run(at, ['go', 'run', versions.go, '-config', 'generate.yaml', 'openapi.json'])
  await run(at, ['go', 'mod', 'init', 'example.com/pay'])
  await run(at, ['go', 'mod', 'tidy'])
  return paid(await run(at, ['go', 'run', '.'], env))
}

/** Two linters with their own usual rules, and not even a warning. */
async function lintDescriptions(at, descriptions) {
  writeFileSync(join(at, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
  for (const [name, text] of Object.entries(descriptions)) {
    const file = `${name}.json`
    // As a service says it that is not tried out on somebody's own machine.
    const servers = [{ url: 'https://pay.example' }]
    writeFileSync(join(at, file), JSON.stringify({ ...JSON.parse(text), servers }))
    const redocly = ['npx', '--yes', versions.redocly, 'lint', file, '--format', 'json']
    const { totals, problems } = JSON.parse((await run(at, redocly)).replace(/^[^{]*/, ''))
    if (totals.errors + totals.warnings > 0) throw new Error(JSON.stringify(problems))
    await run(at, ['npx', '--yes', versions.spectral, 'lint', file, '--fail-severity', 'hint'])
  }
  return 'Redocly and Spectral find nothing'
}

/** Not at a stretch: meanwhile the service is answered and heard. */
async function run(at, [file, ...args], env = {}) {
  try {
    const { stdout } = await promisify(execFile)(file, args, {
      cwd: at,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 1024 * 1024,
      timeout: limitMs,
    })
    return stdout
  } catch (error) {
    throw new Error(`${file} ${args[0]}: ${error.stderr}${error.stdout}`)
  }
}

function paid(said) {
  const [, txnId] = /^paid (\d+-[0-9a-f]{32}) 123456789(?:\.0)?$/m.exec(said) ?? []
  if (!txnId) throw new Error(`it said: ${said}`)
  return `compiled, and paid ${txnId}`
}
