import type { Row } from '../../api.ts'
import type { api } from '../../paths.ts'

export type User = Row<typeof api.users>
