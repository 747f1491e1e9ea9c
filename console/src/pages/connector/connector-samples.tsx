import { Button, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { TextOrFile } from '../../parts/text-or-file.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import type { ConnectorDetail, SampleResult, SamplesRun } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'
import { VersionSelect, versionIn } from './version-select.tsx'

const { samples: says } = connectorWords
const maxBytes = 1024 * 1024

/** Tries a set of samples on a version; one that has passed may be used. */
export function ConnectorSamples({ connector }: { connector: ConnectorDetail }) {
  const { name } = connector
  const { filters, set } = useFilters()
  const version = versionIn(connector, filters.version)
  const whyMayNot = whyNot(useMe(), 'manage_providers')
  const queries = useQueryClient()
  const [samples, setSamples] = useDraft('samples', '')
  const running = useMutation({
    mutationFn: () =>
      ask(api.runConnectorSamples, { params: { name }, body: { version, samples } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['connectors'] })
      return queries.invalidateQueries({ queryKey: ['connector', name] })
    },
  })
  const whyDisabled = whyMayNot ?? (samples.trim() === '' ? says.missing : undefined)
  return (
    <Stack gap="md">
      <Panel>
        <Stack gap="sm">
          <div>{says.says}</div>
          <VersionSelect
            connector={connector}
            value={version}
            choose={(chosen) => set({ version: chosen })}
          />
          <TextOrFile
            label={says.paste}
            accept=".json,application/json"
            maxBytes={maxBytes}
            value={samples}
            change={setSamples}
          />
          {running.isError && <ProblemPanel error={running.error} />}
          <div>
            {whyDisabled === undefined ? (
              <Button size="sm" loading={running.isPending} onClick={() => running.mutate()}>
                {says.run}
              </Button>
            ) : (
              <ActButton size="sm" whyNot={whyDisabled} onClick={() => {}}>
                {says.run}
              </ActButton>
            )}
          </div>
        </Stack>
      </Panel>
      <div aria-live="polite">{running.data && <Results run={running.data} />}</div>
    </Stack>
  )
}

function Results({ run }: { run: SamplesRun }) {
  const { version, passed, missing, results } = run
  const good = results.filter(({ ok }) => ok).length
  // What was misread comes first.
  const rows = results.toSorted((a, b) => Number(a.ok) - Number(b.ok))
  return (
    <Panel
      title={says.results}
      tools={
        <Toned tone={passed ? 'good' : 'bad'}>
          {passed ? says.passed(version) : says.failed(version)}
        </Toned>
      }
    >
      <p>
        {says.counts(good, results.length)} {passed && says.passedTeach}
      </p>
      {missing.length > 0 && (
        <>
          <p>{says.shows}</p>
          <ul>
            {missing.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </>
      )}
      <DataTable
        label={says.results}
        rows={rows}
        rowKey={({ name, call }) => `${call} ${name}`}
        columns={columns}
        empty={says.nothing}
      />
    </Panel>
  )
}

const columns: Column<SampleResult>[] = [
  {
    key: 'result',
    head: says.result,
    phone: 'plain',
    cell: ({ ok }) => <Toned tone={ok ? 'good' : 'bad'}>{ok ? says.right : says.wrong}</Toned>,
  },
  { key: 'name', head: says.name, phone: 'plain', cell: (row) => row.name },
  { key: 'call', head: says.call, cell: (row) => row.call },
  { key: 'expected', head: says.expected, cell: (row) => wordsOf(row.expected) },
  { key: 'got', head: says.got, phone: 'wide', cell: Got },
  {
    key: 'rule',
    head: says.rule,
    cell: ({ tried }) => tried.flatMap(({ rule }) => rule ?? []).join('; ') || '–',
  },
]

function Got({ tried }: SampleResult) {
  const faults = tried.flatMap(({ fault }) => fault ?? [])
  return (
    <>
      {wordsOf(tried.flatMap(({ got }) => got))}
      {faults.length > 0 && ` (${faults.join('; ')})`}
    </>
  )
}

function wordsOf(said: readonly string[]): string {
  return said.length === 0 ? says.nothing : said.join('; ')
}
