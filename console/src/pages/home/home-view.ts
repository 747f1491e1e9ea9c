import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type HomeView = Answer<typeof api.home>
