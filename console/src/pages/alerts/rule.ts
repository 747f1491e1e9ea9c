import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type Rule = Answer<typeof api.alertRules>['data'][number]
