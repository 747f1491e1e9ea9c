import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react'
import { words } from '../words.ts'
import { useFilters } from './url-filters.ts'

/**
 * Pages through a list by cursor, in the list's own order; the browser's back button returns to the previous
 * page.
 */
export function CursorPages(props: {
  next: string | null | undefined
  order?: keyof typeof words.listOrders
}) {
  const { next } = props
  const [first, further] = words.listOrders[props.order ?? 'newest']
  const { filters, set } = useFilters()
  const isFirst = filters.cursor === undefined
  if (isFirst && !next) return null
  return (
    <Group justify="flex-end" gap="xs" mt="sm">
      {!isFirst && (
        <Button
          variant="default"
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => set({ cursor: null })}
        >
          {first}
        </Button>
      )}
      <Button
        variant="default"
        rightSection={<IconArrowRight size={14} />}
        disabled={!next}
        onClick={() => set({ cursor: next })}
      >
        {further}
      </Button>
    </Group>
  )
}
