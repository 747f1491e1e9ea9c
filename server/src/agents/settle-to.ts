import { findBank } from '../lib/banks.ts'
import type { Currency } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'

/** The agent's own account, to which its balance is settled. */
export interface SettleTo {
  bankCode: string
  accountNo: string
  accountName: string
}

/** Parses `BANK:ACCOUNT:NAME`; returns an error message if it is invalid. The name may contain colons. */
export function parseSettleTo(text: string, currency: Currency): SettleTo | string {
  const [bank = '', accountNo = '', ...rest] = text.split(':')
  const accountName = rest.join(':')
  const found = findBank(currency, bank)
  if (!found || found.closed) {
    return `"${bank}" is not the code of an open ${currency} bank; write BANK:ACCOUNT:NAME`
  }
  if (!/^[A-Za-z0-9]{4,34}$/.test(accountNo)) {
    return 'the account must be 4 to 34 letters and digits; write BANK:ACCOUNT:NAME'
  }
  if (!isPrintable(accountName, 128)) {
    return 'the name must be 1 to 128 printable characters; write BANK:ACCOUNT:NAME'
  }
  return { bankCode: found.code, accountNo, accountName }
}
