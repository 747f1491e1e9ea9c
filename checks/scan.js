import { spawnSync } from 'node:child_process'

/**
 * Asks the registry for advisories about what is installed. If it cannot be reached, it says so and fails: nobody has
 * looked, which is not the same as nothing was found.
 */
const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' })
const report = read(stdout)
if (report?.metadata?.vulnerabilities === undefined) {
  const why = report?.message ?? report?.error?.summary ?? 'npm audit did not answer'
  process.stderr.write(`No advisories could be read, so nothing was scanned: ${why}\n`)
  process.exit(2)
}
const found = Object.values(report.vulnerabilities ?? {})
for (const { name, severity, range, fixAvailable } of found) {
  process.stdout.write(
    `${severity}: ${name} ${range}${fixAvailable ? ', fixed in a later version' : ''}\n`,
  )
}
process.stdout.write(
  found.length === 0 ? 'No advisory is about what is installed.\n' : `${found.length} packages.\n`,
)
process.exit(found.length === 0 ? 0 : 1)

function read(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
