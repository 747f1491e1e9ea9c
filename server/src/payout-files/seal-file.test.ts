import { expect, it } from 'vitest'
import { bahtItem, euroFile, euroItem } from '../../test/support/payment-files.ts'
import { paymentFormats, renderPaymentFile } from '../payment-files/render-payment-file.ts'
import { messageIdOf } from './seal-file.ts'

it.each(paymentFormats.map(({ name }) => name))('%s has room for the id of a file', (format) => {
  const messageId = messageIdOf({ fileId: 'f'.repeat(32), round: 99_999 })
  const ids = { messageId, batchReference: messageId }
  const isEuro = format.startsWith('pain')
  const debtor = {
    name: 'Sluice',
    accountNo: '1234567890',
    bankCode: 'KTB',
    currency: 'THB',
  } as const
  const direct = { 'ktb-ipay-direct': 'KTB', 'scb-dcp': 'SCB' }
  const bankCode = direct[format.replace('-numbered', '') as keyof typeof direct] ?? 'KBANK'
  const payee = { name: 'Somchai', accountNo: '0123456789', bankCode }
  const file = isEuro
    ? euroFile({ ...ids, items: [euroItem()] })
    : euroFile({ ...ids, debtor, serviceLevel: null, items: [bahtItem({ payee })] })
  expect(renderPaymentFile(format, file).bytes.length).toBeGreaterThan(0)
})
