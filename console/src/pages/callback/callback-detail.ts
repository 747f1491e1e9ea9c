import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type CallbackDetail = Answer<typeof api.callback>
