import { checkAnswerSamples, checkNoticeSamples } from './check-answer-samples.ts'
import { checkPairingSamples } from './check-pairing-samples.ts'
import { checkPaymentFiles, checkStatusReports } from './check-payment-file-samples.ts'
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
const parts = [
  ['bank files in any order, with pushes', await checkPairingSamples(folder)],
  ['QR codes', checkQrSamples(folder)],
  ['status reports', await checkStatusReports(folder)],
  ['answers of banks, with our ids', await checkAnswerSamples(folder)],
  ['notices of banks, with our codes', await checkNoticeSamples(folder)],
  ['payment files of ours by the schemas', checkPaymentFiles(folder)],
] as const
for (const [what, { checked, differences }] of parts) {
  for (const line of differences) console.log(`different: ${line}`)
  console.log(`${checked} ${what}, ${differences.length} differences`)
}
const all = [files, ...parts.map(([, part]) => part)]
if (all.some(({ differences }) => differences.length > 0)) process.exitCode = 1
