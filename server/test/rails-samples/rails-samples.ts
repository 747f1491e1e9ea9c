import { checkStatementSamples } from './check-statement-samples.ts'

/** Reads a folder of real samples and compares them with the values that are expected of them. */
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run rails-samples -- FOLDER')
  process.exit(2)
}
const { checked, differences, refused } = await checkStatementSamples(folder)
for (const line of refused) console.log(`refused, as it must be: ${line}`)
for (const line of differences) console.log(`different: ${line}`)
console.log(`${checked} bank files, ${differences.length} differences`)
if (differences.length > 0) process.exitCode = 1
