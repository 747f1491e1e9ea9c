import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type OrderDetail = Answer<typeof api.order>

export const orderKey = (txnId: string) => ['order', txnId]
