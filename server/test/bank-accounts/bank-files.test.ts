import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { bankAccountFaults } from '../../src/bank-accounts/bank-account-terms.ts'
import { updateBankAccount } from '../../src/bank-accounts/save-bank-account.ts'
import { dismissPayment } from '../../src/payments/payments.ts'
import { WatchedFolder } from '../../src/payments/watch-folder.ts'
import { builtInCsvProfiles } from '../../src/statements/csv-profiles.ts'
import {
  camt,
  importFile,
  makeAccount,
  movementsOf,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { tempFolder } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

it('a CSV file is read by the account’s own profile, and books what came in', async () => {
  const profile = {
    encoding: 'utf-8',
    delimiter: ',',
    decimalMark: '.',
    groupingMark: ',',
    columns: { date: 'Date', amount: 'Amount', texts: ['Text'] },
    dateFormat: 'DD/MM/YYYY',
  }
  const account = await makeAccount(s, { csvProfile: JSON.stringify(profile) })
  const file = 'Date,Amount,Text\n16/11/2026,"1,250.50",rent\n16/11/2026,-12.00,fee\n'
  expect(await importFile(s, account, Buffer.from(file))).toMatchObject({ movements: 2 })
  const found = await movementsOf(s, account)
  expect(found.sort((a, b) => Number(b.amountMinor - a.amountMinor))).toMatchObject([
    { amountMinor: 125_050n, bookedOn: '2026-11-16', text: expect.stringContaining('rent') },
    { amountMinor: -1_200n, state: 'unexplained' },
  ])
  await expect(importFile(s, account, Buffer.from(`${file}not,a line\n`))).rejects.toThrow('Line 4')
})

it('every profile that comes with the service can be an account’s; another must fit', async () => {
  const { account } = await makeAccount(s)
  for (const { profile } of builtInCsvProfiles) {
    expect(bankAccountFaults({ ...account, csvProfile: JSON.stringify(profile) })).toEqual([])
  }
  for (const csvProfile of ['no JSON', '"kbank-biz"', '{}', 'x'.repeat(9_000)]) {
    expect(bankAccountFaults({ ...account, csvProfile })).toMatchObject([{ field: 'csv_profile' }])
  }
})

it('an MT940 file is read in the encoding of its account', async () => {
  const file = (accountNo: string) =>
    Buffer.concat([
      Buffer.from(`:20:S\r\n:25:${accountNo}\r\n:28C:1\r\n:60F:C261116THB0,\r\n`),
      Buffer.from(':61:2611161116C1,00NTRFNONREF\r\n:86:M'),
      // In CP850 this is ü, and in Latin-1 a control character.
      Buffer.from([0x81]),
      Buffer.from('ller\r\n:62F:C261116THB1,00\r\n-\r\n'),
    ])
  const account = await makeAccount(s, { encoding: 'cp850' }, { isOff: true })
  await importFile(s, account, file(account.account.accountNo))
  expect(await movementsOf(s, account)).toMatchObject([{ text: expect.stringContaining('Müller') }])
  expect(bankAccountFaults({ ...account.account, encoding: 'klingon' })).toMatchObject([
    { field: 'encoding' },
  ])
  const changed = await updateBankAccount(
    s.backend.pool,
    s.backend.secretKeys,
    account.account,
    { ...account.account, encoding: null },
    { name: 'test', at: s.clock(), confirmedBy: 'another test', newSecret: false },
  )
  expect(changed?.account.encoding).toBeNull()
})

it('amounts and days that cannot be refuse a file', async () => {
  const account = await makeAccount(s)
  const { accountNo, currency } = account.account
  const file = (day: string, amount: string, times: number) =>
    camt({
      account: { accountNo, currency },
      day,
      lines: Array.from({ length: times }, (_, at) => ({ amount, ref: `r${at}` })),
    })
  await expect(importFile(s, account, file('0001-01-01', '1.00', 1))).rejects.toThrow('0001-01-01')
  await expect(
    importFile(s, account, file('2026-11-16', '999999999999999.00', 20)),
  ).rejects.toThrow('more than any account can hold')
  const batch = file('2026-11-16', '1.00', 1)
    .toString()
    .replace('<NtryDtls>', '<NtryDtls><Btch><NbOfTxs>999999999</NbOfTxs></Btch>')
  expect(batch).toContain('999999999')
  await expect(importFile(s, account, Buffer.from(batch))).rejects.toThrow('999999999')
  expect(await movementsOf(s, account)).toEqual([])
})

it('a statement of the number that the account had before is still its own', async () => {
  const before = await makeAccount(s)
  const { pool, secretKeys } = s.backend
  const terms = { ...before.account, accountNo: '9990001112' }
  const changed = await updateBankAccount(pool, secretKeys, before.account, terms, {
    name: 'test',
    at: s.clock(),
    confirmedBy: 'another test',
    newSecret: false,
  })
  if (!changed) throw new Error('the account was not changed')
  const now = { ...before, account: changed.account }
  const of = (accountNo: string, amount: string) =>
    camt({ account: { accountNo, currency: 'THB' }, day: '2026-11-16', lines: [{ amount }] })
  await importFile(s, now, of(before.account.accountNo, '3.00'))
  await importFile(s, now, of('9990001112', '4.00'))
  await expect(importFile(s, now, of('1110001112', '5.00'))).rejects.toThrow('1110001112')
  expect(await movementsOf(s, now)).toHaveLength(2)
})

it('money that a bank reported cannot be dismissed, since the bank has it', async () => {
  const account = await makeAccount(s)
  const file = camt({ account: account.account, day: '2026-11-16', lines: [{ amount: '7.00' }] })
  await importFile(s, account, file)
  const [movement] = await movementsOf(s, account)
  const paymentId = `${account.account.name}:${movement?.movementId}`
  await expect(dismissPayment(s.service.desk, paymentId, 'oops')).rejects.toThrow(
    'credit or return',
  )
})

it('the folder goes on after a file that cannot be read, and moves each', async () => {
  const [bad, good] = [await makeAccount(s), await makeAccount(s)]
  const dataDir = await tempFolder()
  const put = async ({ account }: TestAccount, name: string, bytes: Buffer) => {
    const folder = join(dataDir, 'bank-in', account.name)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, name), bytes)
    const old = new Date(Date.now() - 60_000)
    await utimes(join(folder, name), old, old)
    return folder
  }
  const file = ({ account }: TestAccount) =>
    camt({ account, day: '2026-11-16', lines: [{ amount: '8.00' }] })
  await s.sql(`update bank_accounts set csv_profile = '{not json' where name = $1`, [
    bad.account.name,
  ])
  const stays = await put(bad, 'a.xml', file(bad))
  const goes = await put(good, 'a.xml', file(good))
  await put(good, 'cut.xml', file(good).subarray(0, 300))
  await put(good, 'b.xml.part', file(good))
  // This one may still be being written.
  await writeFile(join(goes, 'fresh.xml'), file(good))
  const [refused, errors]: [string[], unknown[]] = [[], []]
  const folder = new WatchedFolder(
    dataDir,
    s.service.desk,
    'sandbox',
    (path) => refused.push(basename(path)),
    (error) => errors.push(error),
  )
  await folder.poll()
  expect(await movementsOf(s, good)).toEqual([])
  await folder.poll()
  expect([refused, errors.length]).toEqual([['cut.xml'], 1])
  expect((await readdir(goes)).sort()).toEqual(['b.xml.part', 'done', 'fresh.xml', 'refused'])
  expect(await readdir(join(goes, 'done'))).toEqual(['a.xml'])
  expect(await readdir(join(goes, 'refused'))).toEqual(['cut.xml'])
  expect(await readdir(stays)).toEqual(['a.xml'])
  expect(await movementsOf(s, good)).toHaveLength(1)
})
