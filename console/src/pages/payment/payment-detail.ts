import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type PaymentDetail = Answer<typeof api.payment>

export const paymentKey = (paymentId: string) => ['payment', paymentId]
