import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type WalletDetail = Answer<typeof api.wallet>
