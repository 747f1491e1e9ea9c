// Writes a bill of materials (CycloneDX) of everything that is installed to sbom.json, or to the file that is named,
// and prints it. `npm run` writes lines of its own before what is printed: take the file, or `npm run --silent sbom`.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const [file = 'sbom.json'] = process.argv.slice(2)
const made = spawnSync(
  'npm',
  ['sbom', '--silent', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'],
  { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
)
if (made.status !== 0) {
  process.stderr.write(`npm sbom failed: ${made.stderr || made.stdout}\n`)
  process.exit(1)
}
const text = `${JSON.stringify(JSON.parse(made.stdout), null, 2)}\n`
writeFileSync(file, text)
process.stderr.write(`written to ${file}\n`)
// Who reads only the beginning closes the pipe.
process.stdout.on('error', () => {})
process.stdout.write(text)
