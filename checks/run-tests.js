import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Runs all tests: `npm test`. A few files that fail beside the others are run once more, one after another, and the
 * run says so: one that passes alone failed by timing, which is a defect of the test or of what it tests.
 */
const mostFilesAgain = 3
const given = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'))
try {
  process.exitCode = runAll()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function runAll() {
  const report = join(folder, 'report.json')
  const reporters = given.some((each) => each.startsWith('--reporter'))
    ? []
    : ['--reporter=default']
  const written = ['--reporter=json', `--outputFile.json=${report}`]
  const code = vitest([...given, ...reporters, ...written])
  const files = code === 0 || !existsSync(report) ? [] : failedIn(report)
  // Whoever names files wants to see them fail, and an error outside of all tests has no file.
  const asksForSome = given.some((each) => !each.startsWith('-'))
  if (code === 0 || asksForSome || files.length === 0 || files.length > mostFilesAgain) return code
  console.log(`\nFailed beside others, run once more alone:\n  ${files.join('\n  ')}\n`)
  const again = vitest([...files, '--maxWorkers=1'])
  if (again === 0) {
    console.log(
      `\nPassed alone. What fails by timing is a defect, please report it:\n  ${files.join('\n  ')}\n`,
    )
  }
  return again
}

function vitest(more) {
  const program = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
  const { status } = spawnSync(process.execPath, [program, 'run', ...more], { stdio: 'inherit' })
  return status ?? 1
}

/** The files with a test, or a beginning or end of tests, that failed; an error outside of all files is in none. */
function failedIn(report) {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => relative(process.cwd(), name))
}
