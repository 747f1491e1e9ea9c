import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconDownload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { addressOf, problemOf } from '../../api.ts'
import { saveStream } from '../../parts/save-stream.ts'
import type { Filters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { ordersWords } from './orders-words.ts'

const { csv } = ordersWords

/** Exports the filtered orders as a file. The export shows its progress and can be stopped. */
export function CsvExport({ filters }: { filters: Filters }) {
  const [rows, setRows] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  const start = async () => {
    const { cursor: _, limit: __, ...query } = filters
    stop.current = new AbortController()
    setRows(0)
    try {
      const { signal } = stop.current
      const lines = await saveStream(addressOf(api.ordersCsv, { query }), csv.file, signal, setRows)
      notifications.show({ message: csv.done(lines) })
    } catch (error) {
      if (!stop.current.signal.aborted) {
        notifications.show({ color: 'red', title: csv.failed, message: problemOf(error).detail })
      }
    } finally {
      setRows(undefined)
    }
  }
  return rows === undefined ? (
    <Button
      variant="default"
      size="sm"
      leftSection={<IconDownload size={15} />}
      onClick={() => void start()}
    >
      {csv.start}
    </Button>
  ) : (
    <Button variant="default" size="sm" onClick={() => stop.current?.abort()} aria-live="polite">
      {csv.progress(rows)}
    </Button>
  )
}
