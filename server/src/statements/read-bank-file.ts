import { type CsvProfile, csvProfileFault } from './csv-profile.ts'
import { chunksOf, type FileBytes, peek, withoutMark } from './file-bytes.ts'
import { readCamt } from './read-camt.ts'
import { type PreviewRow, previewCsv, readCsv } from './read-csv.ts'
import { readMt940 } from './read-mt940.ts'
import { readOfx } from './read-ofx.ts'
import { startReading } from './reading.ts'
import { BankFileFault, type BankStatement, type ReadingOptions } from './statement.ts'

export type BankFileFormat = 'camt' | 'mt940' | 'ofx' | 'csv'

export interface BankFileOptions extends ReadingOptions {
  /** Instead of telling it from the content. */
  format?: BankFileFormat
  /** The account's profile, for files that are neither camt nor MT940 nor OFX. */
  csvProfile?: CsvProfile
}

/**
 * Reads a bank's file: camt.052, 053 and 054, MT940 and MT942, OFX, or CSV by a profile. It returns all of the
 * file or throws a `BankFileFault`, never a part.
 */
export async function readBankFile(
  bytes: FileBytes,
  options: BankFileOptions,
): Promise<BankStatement[]> {
  const reading = startReading(options)
  const { encoding: marked, chunks: plain } = await withoutMark(chunksOf(bytes))
  const { head, chunks } = await peek(plain, 4096)
  const encoding = marked ?? options.encoding ?? null
  switch (options.format ?? formatOf(head, options.csvProfile)) {
    case 'camt':
      return readCamt(chunks, marked, reading)
    case 'mt940':
      return readMt940(chunks, encoding, reading)
    case 'ofx':
      return readOfx(chunks, encoding, reading)
    case 'csv':
      return readCsv(chunks, marked, soundProfile(options.csvProfile), reading)
  }
}

/** The first ten lines of a CSV file, as they are and as the profile reads them. */
export async function previewRows(
  bytes: FileBytes,
  options: ReadingOptions & { csvProfile: CsvProfile },
): Promise<PreviewRow[]> {
  const { encoding: marked, chunks } = await withoutMark(chunksOf(bytes))
  return previewCsv(chunks, marked, soundProfile(options.csvProfile), startReading(options))
}

function soundProfile(profile: CsvProfile | undefined): CsvProfile {
  if (!profile) throw new BankFileFault(1, 'The account has no profile for CSV files.')
  const fault = csvProfileFault(profile)
  if (fault !== null) throw new BankFileFault(1, `The account’s profile is wrong. ${fault}`)
  return profile
}

function formatOf(head: Uint8Array, profile: CsvProfile | undefined): BankFileFormat {
  const start = Buffer.from(head).toString('latin1').trimStart()
  if (start === '') throw new BankFileFault(1, 'The file is empty.')
  const other = otherKinds.find(([signature]) => start.startsWith(signature))
  if (other) throw new BankFileFault(1, `This is ${other[1]}: export the statement as CSV instead.`)
  if (/^OFXHEADER/i.test(start) || /^<(\?xml[^>]*>\s*<)?(\?OFX|OFX>)/i.test(start)) return 'ofx'
  if (start.startsWith('<')) return 'camt'
  if (/^\{[1-4]:/.test(start) || /(^|\n):20:/.test(start)) return 'mt940'
  if (profile) return 'csv'
  throw new BankFileFault(
    1,
    'This is neither camt nor MT940 nor OFX. For CSV the account needs a profile.',
  )
}

/** What banks offer beside bank files, by their first bytes. */
const otherKinds = [
  ['PK\x03\x04', 'an Excel or zip file'],
  ['\xd0\xcf\x11\xe0', 'an old Excel file'],
  ['%PDF', 'a PDF'],
] as const
