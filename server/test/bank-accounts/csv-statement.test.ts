import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { bankAccountFaults } from '../../src/bank-accounts/save-bank-account.ts'
import { builtInCsvProfiles } from '../../src/statements/csv-profiles.ts'
import { importFile, makeAccount, movementsOf } from '../support/bank-accounts.ts'
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
