import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import type { PayoutFileDetail } from './payout-file-detail.ts'

/** What every dialog about a file is given. */
export interface FileDialogProps {
  file: PayoutFileDetail
  close: () => void
}

/** Loads again what a step of a file changes. */
export function useChanged(id: string) {
  const queries = useQueryClient()
  return async (message?: string) => {
    await queries.invalidateQueries({ queryKey: ['payout-file', id] })
    void queries.invalidateQueries({ queryKey: ['payout-files'] })
    void queries.invalidateQueries({ queryKey: ['payouts-waiting'] })
    if (message !== undefined) notifications.show({ message })
  }
}
