import { translated } from '../../languages/language.ts'

export const bankImportWords = translated('bankImport', {
  title: (name: string) => `Import a file for ${name}`,
  says: 'camt.052, 053 and 054, MT940, MT942, OFX, or CSV by the account’s profile. A file is taken whole or refused whole; the same file again adds nothing.',
  choose: 'Choose a file',
  another: 'Choose another file',
  tooLarge: 'The file is larger than 16 MiB: use the command line for it.',
  reading: 'Reading',
  refused: (line: number | null) =>
    line === null ? 'It would be refused' : `It would be refused at line ${line}`,
  refusedTeach: 'Nothing was stored. Fetch the file again, or correct the account.',
  before: (by: string) => `${by} imported the same file before,`,
  beforeTeach: 'Importing it again adds nothing.',
  facts: {
    format: 'Format',
    statements: 'Statements',
    entries: 'Booked entries',
    added: 'New movements',
    known: 'Known already',
    pending: 'Not booked by the bank yet',
  },
  waits:
    'Above the account’s limit for files, what is new is credited only after another person has confirmed it, or once the bank itself reports it.',
  shown: (count: number, all: number) =>
    count < all ? `The first ${count} of ${all} new movements` : 'New movements',
  noneNew: 'Nothing in it is new',
  noneNewTeach: 'Everything in this file was reported before.',
  columns: {
    line: 'Line',
    day: 'Day',
    amount: 'Amount',
    would: 'Would be',
    order: 'Order',
    text: 'Text',
    payer: 'Payer',
    detail: 'Why',
  },
  notes: 'What the reader assumed',
  import: 'Import',
  dialog: {
    title: (name: string) => `Import ${name}`,
    explain: 'The file is kept as it came, with your name. What is new is matched and booked.',
  },
  done: (movements: number, waiting: number) =>
    waiting > 0
      ? `${movements} new movements; ${waiting} wait for another person`
      : `${movements} new movements`,
})
