import { checkQrSamples } from './check-qr-samples.ts'
import { checkStatementSamples } from './check-statement-samples.ts'

/** Reads a folder of real samples and compares them with the values that are expected of them. */
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run rails-samples -- FOLDER')
  process.exit(2)
}
const files = await checkStatementSamples(folder)
for (const line of files.refused) console.log(`refused, as it must be: ${line}`)
for (const line of files.differences) console.log(`different: ${line}`)
console.log(`${files.checked} bank files, ${files.differences.length} differences`)
const codes = checkQrSamples(folder)
for (const line of codes.differences) console.log(`different: ${line}`)
console.log(`${codes.checked} QR codes, ${codes.differences.length} differences`)
if (files.differences.length + codes.differences.length > 0) process.exitCode = 1
