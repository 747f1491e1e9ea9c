import { Button, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { AgentSelect } from '../../parts/agent-select.tsx'
import { useDraft, useForgetDrafts } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import classes from '../me/me.module.css'
import { testOrdersWords as says } from './test-orders-words.ts'

export default function TestOrders() {
  const me = useMe()
  const isAgent = me.user.role === 'agent'
  const [agent, setAgent] = useDraft('order/agent', '')
  const [kind, setKind] = useDraft<'deposit' | 'withdraw'>('order/kind', 'deposit')
  const [amount, setAmount] = useDraft('order/amount', '250')
  const [story, setStory] = useDraft('order/story', '')
  const [refId, setRefId] = useDraft('order/ref', '')
  const forget = useForgetDrafts()
  const whyDisabled = whyNot(me, 'manage_own_keys')
  const stories = useQuery({
    queryKey: ['stories'],
    queryFn: ({ signal }) => ask(api.stories, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const making = useMutation({
    mutationFn: () =>
      ask(api.testOrder, {
        body: {
          kind,
          amount: Number(plainNumber(amount)),
          ...(!isAgent && { agent }),
          ...(story !== '' && { story }),
          ...(refId.trim() !== '' && { ref_id: refId.trim() }),
        },
      }),
    onSuccess: () => forget('order'),
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <div className={classes.panels}>
        <Panel>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              making.mutate()
            }}
          >
            <Stack gap="sm">
              {!isAgent && <AgentSelect label={says.agent} value={agent} onChoose={setAgent} />}
              <NativeSelect
                label={says.kind}
                value={kind}
                data={[
                  { value: 'deposit', label: stateWords.deposit ?? '' },
                  { value: 'withdraw', label: stateWords.withdraw ?? '' },
                ]}
                onChange={({ currentTarget: { value } }) => {
                  setKind(value === 'withdraw' ? 'withdraw' : 'deposit')
                  setStory('')
                }}
              />
              <TextInput
                label={says.amount}
                inputMode="numeric"
                pattern="[0-9]+"
                required
                value={amount}
                onChange={(event) => setAmount(event.currentTarget.value)}
              />
              <NativeSelect
                label={says.story}
                value={story}
                onChange={(event) => setStory(event.currentTarget.value)}
              >
                <option value="">{says.noStory}</option>
                {stories.data?.data
                  .filter((each) => each.kind === kind)
                  .map(({ name, says: told }) => (
                    <option key={name} value={name}>
                      {`${name}: ${told}`}
                    </option>
                  ))}
              </NativeSelect>
              <TextInput
                label={says.refId}
                description={says.refIdHint}
                value={refId}
                onChange={(event) => setRefId(event.currentTarget.value)}
              />
              {stories.isError && <ProblemPanel error={stories.error} />}
              {making.isError && <ProblemPanel error={making.error} />}
              <Button
                type="submit"
                size="sm"
                loading={making.isPending}
                disabled={whyDisabled !== undefined}
                title={whyDisabled}
              >
                {says.create}
              </Button>
            </Stack>
          </form>
        </Panel>
        {making.data && (
          <Panel
            title={says.made}
            tools={<PageLink to={pages.order(making.data.txn_id)}>{says.open}</PageLink>}
          >
            <RawView raw={making.data.answer} label={says.made} />
          </Panel>
        )}
      </div>
    </>
  )
}
