import { openBackend } from '../dist/backend.js'
import { createBankAccount } from '../dist/bank-accounts/save-bank-account.js'
import { readConfig } from '../dist/config.js'
import { bookMovements, movementPage } from '../dist/payments/book-movement.js'
import { importBankFile } from '../dist/payments/import-bank-file.js'
import { openDesk } from '../dist/service/open-desk.js'
import { type Bench, newDatabase, prove } from './orders-row.js'

const lines = 50_000

/** Imports a bank's statement of many lines, and books each: how many a second, and with how much memory. */
export async function runStatement(bench: Bench) {
  process.stderr.write('statement: ')
  process.env.DATABASE_URL = await newDatabase(bench.postgresUrl)
  process.env.DATA_DIR = bench.dataDir
  const read = readConfig()
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  const backend = await openBackend(read.config, 'serve', () => {})
  const { desk, close } = openDesk(read.config, backend, {})
  const made = await createBankAccount(
    backend.pool,
    backend.secretKeys,
    {
      name: 'bench',
      currency: 'THB',
      bankCode: 'KBANK',
      accountNo: '1234567890',
      accountName: 'Bench',
      city: null,
      address: null,
      qrKind: 'none',
      qrValue: null,
      match: 'code',
      surplusSteps: 99,
      holdS: 7_200,
      dayLimitMinor: null,
      fileLimitMinor: 0n,
      feed: 'none',
      zone: 'UTC',
      csvProfile: null,
      encoding: null,
      ownAccounts: '',
    },
    { name: 'bench', at: new Date(), mode: 'sandbox', confirmedBy: 'sandbox' },
  )
  if (!made) throw new Error('the account was not made')
  const bytes = statement()
  const memoryBefore = process.memoryUsage().rss
  let most = memoryBefore
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const started = performance.now()
  const file = { name: 'bench.xml', bytes, via: 'folder', by: 'bench' } as const
  const { movements } = await importBankFile(desk, made.account, file, 'sandbox')
  const importedMs = performance.now() - started
  process.stderr.write('.')
  for (let round = movementPage; round >= movementPage; ) {
    round = await bookMovements(desk, (error) => {
      throw error
    })
  }
  const wholeMs = performance.now() - started
  clearInterval(watching)
  process.stderr.write('.\n')
  await close()
  await backend.close()
  if (movements !== lines) throw new Error(`${movements} movements instead of ${lines}`)
  await prove(process.env.DATABASE_URL, 'statement', { isUnmatchedFine: true })
  const importsPerSecond = lines / (importedMs / 1000)
  const booksPerSecond = lines / ((wholeMs - importedMs) / 1000)
  const memoryMb = (most - memoryBefore) / 2 ** 20
  process.stdout.write(
    `${'statement'.padEnd(24)} ${importsPerSecond.toFixed(0)} lines/s imported, ${booksPerSecond.toFixed(0)}/s matched and booked, ${memoryMb.toFixed(0)} MB more memory\n`,
  )
  return { name: 'statement', lines, importsPerSecond, booksPerSecond, memoryMb }
}

function statement(): Buffer {
  const day = '2026-11-16'
  let sum = 0n
  const entries = Array.from({ length: lines }, (_, at) => {
    const minor = 10_000n + BigInt(at % 5_000)
    sum += minor
    return `<Ntry><Amt Ccy="THB">${text(minor)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt><AcctSvcrRef>B${at}</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>transfer ${at}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`
  })
  const balance = (type: string, minor: bigint) =>
    `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="THB">${text(minor)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt><Id>S</Id><Acct><Id><Othr><Id>1234567890</Id></Othr></Id><Ccy>THB</Ccy></Acct>${balance('OPBD', 0n)}${balance('CLBD', sum)}${entries.join('')}</Stmt></BkToCstmrStmt></Document>`,
  )
}

function text(minor: bigint): string {
  return `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`
}
