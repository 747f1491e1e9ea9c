import { Alert, Button, Group } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask } from '../api.ts'
import { When } from '../parts/when.tsx'
import { api } from '../paths.ts'
import { words } from '../words.ts'

/** What every admin has to take note of, on every page until they have. */
export function Alarms() {
  const queries = useQueryClient()
  const queryKey = ['alarms']
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(api.alarms, { signal }),
    refetchInterval: 30_000,
  })
  const noting = useMutation({
    mutationFn: (id: string) => ask(api.acknowledgeAlarm, { params: { id } }),
    onSuccess: (left) => queries.setQueryData(queryKey, left),
  })
  return data?.data.map((alarm) => (
    <Alert key={alarm.id} color="red" mb="sm" title={words.alarm} role="alert">
      <Group justify="space-between" gap="xs">
        <span>
          {alarm.words} (<When at={alarm.at} />)
        </span>
        <Button size="xs" color="red.8" onClick={() => noting.mutate(alarm.id)}>
          {words.alarmNoted}
        </Button>
      </Group>
    </Alert>
  ))
}
