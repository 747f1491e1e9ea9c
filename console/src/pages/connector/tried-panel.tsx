import { Stack } from '@mantine/core'
import type { Answer } from '../../api.ts'
import { Empty } from '../../parts/empty.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import type { api } from '../../paths.ts'
import type { Tried } from './connector-detail.ts'
import { connectorWords, meaningOf, ofNoInterest } from './connector-words.ts'

const { try: says } = connectorWords

/** Which rules fired, and what would happen. */
export function TriedPanel(props: {
  answer: Answer<typeof api.tryConnector> | undefined
  /** The document as JSON, to show the rule. */
  document: string | undefined
}) {
  const { answer } = props
  return (
    <Panel title={says.result}>
      <div aria-live="polite">
        {answer ? (
          <Stack gap="md">
            <div>{says.by(answer.version)}</div>
            {answer.assumed.length > 0 && <div>{says.assumed(answer.assumed.join(', '))}</div>}
            {answer.signature !== null && <Signature says={answer.signature} />}
            {answer.tried.length === 0 && <div>{says.noEvents}</div>}
            {answer.tried.map((tried, at) => (
              <One
                // biome-ignore lint/suspicious/noArrayIndexKey: events have only their place
                key={at}
                tried={tried}
                title={answer.tried.length > 1 ? says.event(at + 1) : undefined}
                document={props.document}
              />
            ))}
          </Stack>
        ) : (
          <Empty title={says.empty} teach={says.emptyTeach} />
        )}
      </div>
    </Panel>
  )
}

function Signature({ says: told }: { says: string }) {
  const isGenuine = told === 'genuine'
  return (
    <Facts
      facts={[
        [
          says.signature,
          <span key="s">
            <Toned tone={isGenuine ? 'good' : 'bad'}>
              {isGenuine ? says.genuine : says.notGenuine}
            </Toned>
            {!isGenuine && ` ${told}`}
          </span>,
        ],
      ]}
    />
  )
}

function One(props: { tried: Tried; title: string | undefined; document: string | undefined }) {
  const { rule, rule_name: name, got, fault } = props.tried
  const text = rule === null ? undefined : partOf(props.document, rule)
  const meanings = got.length === 0 && fault === null ? [ofNoInterest] : got.map(meaningOf)
  return (
    <div>
      {props.title && <strong>{props.title}</strong>}
      {meanings.map((each) => (
        <div key={each}>{each}</div>
      ))}
      <Facts
        facts={[
          [says.rule, rule === null ? says.noRule : <code key="r">{rule}</code>],
          name !== null && [says.ruleName, name],
          fault !== null && [says.why, fault],
          got.length > 0 && [says.words, <code key="g">{got.join('; ')}</code>],
        ]}
      />
      {rule !== null && text !== undefined && <RawView raw={text} label={says.ruleText(rule)} />}
    </div>
  )
}

/** What stands at a JSON Pointer of a document. */
function partOf(document: string | undefined, pointer: string): unknown {
  if (document === undefined) return undefined
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, part) => Object(value)[part], JSON.parse(document))
}
