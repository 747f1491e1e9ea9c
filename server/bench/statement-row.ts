import { createAgent, defaultTerms } from '../dist/agents/save-agent.js'
import { type Backend, openBackend } from '../dist/backend.js'
import { expectedColumns } from '../dist/bank-accounts/expected-deposits.js'
import { readConfig } from '../dist/config.js'
import { paymentCode } from '../dist/lib/payment-code.js'
import { bookMovements, movementPage } from '../dist/payments/book-movement.js'
import { importBankFile } from '../dist/payments/import-bank-file.js'
import { openDesk } from '../dist/service/open-desk.js'
import type { Desk } from '../dist/teller/desk.js'
import { makeBankAccount } from './bank-account.js'
import { newDeposit } from './new-deposit.js'
import { type Bench, newDatabase, prove } from './orders-row.js'

const lines = 50_000
/** Every second line pays a deposit, whose code it has; the others are nobody's. */
const deposits = lines / 2

/** Imports a bank's statement of many lines, and books each: how many a second, and with how much memory. */
export async function runStatement(bench: Bench) {
  process.stderr.write('statement: ')
  process.env.DATABASE_URL = await newDatabase(bench.postgresUrl)
  process.env.DATA_DIR = bench.dataDir
  const read = readConfig()
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  const backend = await openBackend(read.config, 'serve', () => {})
  const { desk, close } = openDesk(read.config, backend, {})
  const account = await makeBankAccount(backend)
  const codes = await expectDeposits(backend, desk)
  const bytes = statement(codes)
  const memoryBefore = process.memoryUsage().rss
  let most = memoryBefore
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const started = performance.now()
  const file = { name: 'bench.xml', bytes, via: 'folder', by: 'bench' } as const
  const { movements } = await importBankFile(desk, account, file, 'sandbox')
  const importedMs = performance.now() - started
  process.stderr.write('.')
  for (let round = movementPage; round >= movementPage; ) {
    round = await bookMovements(desk, (error) => {
      throw error
    })
  }
  const wholeMs = performance.now() - started
  const { rows: paid } = await backend.pool.query(
    `select count(*)::int as count from orders where status = 'PAID'`,
  )
  if (paid[0].count !== deposits) throw new Error(`${paid[0].count} deposits are paid`)
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

/** Creates deposits of ten agents at the account. Returns their codes. */
async function expectDeposits({ pool, secretKeys }: Backend, { teller }: Desk): Promise<string[]> {
  const agentIds: bigint[] = []
  for (let at = 0; at < 10; at++) {
    const terms = { ...defaultTerms, name: `Bench ${at}`, currency: 'THB' } as const
    const { agent } = await createAgent(pool, secretKeys, terms, new Date())
    agentIds.push(agent.agentId)
  }
  const codes: string[] = []
  for (let at = 0; at < deposits; at += 500) {
    const orders = Array.from({ length: 500 }, (_, nth) => ({
      ...newDeposit(agentIds[nth % agentIds.length] ?? 1n),
      provider: 'bench',
    }))
    const expected = orders.map((order) => ({
      account: 'bench',
      code: paymentCode(`deposit ${order.orderId}`),
      agentId: order.agentId,
      orderId: order.orderId,
      userId: order.userId,
      amountMinor: order.amountMinor,
      payableMinor: order.amountMinor,
      byAmount: false,
      deductionMinor: 0n,
      payerAccountNo: order.accountNo ?? '',
      createdAt: order.createdAt,
      expiresAt: order.expiresAt ?? order.createdAt,
      heldUntil: order.expiresAt ?? order.createdAt,
      state: 'open' as const,
    }))
    await pool.query(
      `insert into expected_deposits (${expectedColumns.names}) select * from ${expectedColumns.unnest}`,
      expectedColumns.values(expected),
    )
    await Promise.all(
      orders.map((order) =>
        teller.do({ type: 'create', agentId: order.agentId, at: order.createdAt, order }),
      ),
    )
    codes.push(...expected.map(({ code }) => code))
  }
  return codes
}

function statement(codes: readonly string[]): Buffer {
  const day = new Date().toISOString().slice(0, 10)
  let sum = 0n
  const entries = Array.from({ length: lines }, (_, at) => {
    const code = at % 2 === 0 ? codes[at / 2] : undefined
    const minor = code === undefined ? 10_000n + BigInt(at % 5_000) : 10_000n
    sum += minor
    return `<Ntry><Amt Ccy="THB">${text(minor)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt><AcctSvcrRef>B${at}</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>${code ?? `transfer ${at}`}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`
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
