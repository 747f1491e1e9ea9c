import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

/** A report that goes out by itself, with the last that were made. */
export type Report = Answer<typeof api.reportSchedules>['data'][number]
