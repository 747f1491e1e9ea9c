import type { Row } from '../../api.ts'
import type { api } from '../../paths.ts'

/** A rule, with what is used of it now. */
export type Limit = Row<typeof api.limits>
