import type { Answer, Row } from '../../api.ts'
import type { api } from '../../paths.ts'

/** The trial balance of one currency. */
export type TrialBalance = Answer<typeof api.books>['currencies'][number]
export type Book = TrialBalance['books'][number]
export type DayEnd = Row<typeof api.booksHistory>
