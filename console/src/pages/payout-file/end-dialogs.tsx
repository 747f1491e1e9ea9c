import { Checkbox, Radio, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { moneyText } from '../../parts/money.tsx'
import { api } from '../../paths.ts'
import type { Item } from './file-items.tsx'
import { openItems } from './payout-file-detail.ts'
import { payoutFileWords as says } from './payout-file-words.ts'
import { type FileDialogProps, useChanged } from './use-changed.ts'

/** Proposes to take a payout out, alone or with all of its agent. */
export function TakeOut({ file, item, close }: FileDialogProps & { item: Item }) {
  const changed = useChanged(file.id)
  const [isWhole, setWhole] = useState(false)
  const [next, setNext] = useState('fail')
  const others = file.items.filter(
    (each) => each !== item && each.ended === null && agentOf(each) === agentOf(item),
  )
  const chosen = isWhole ? [item, ...others] : [item]
  const total = chosen.reduce((sum, { amount }) => sum + amount, 0)
  const sum = `${moneyText(total, file.currency)} ${file.currency}`
  const act = async (given: Given) => {
    const codes = chosen.flatMap(({ code }) => (code === null ? [] : [code]))
    const body = { codes, may_try_another: next === 'another', ...given }
    await ask(api.takeOutOfPayoutFile, { params: { id: file.id }, body }).finally(changed)
  }
  return (
    <ActDialog
      draft="take-out"
      title={
        chosen.length === 1 ? says.takeOut.title(sum) : says.takeOut.titleMany(chosen.length, sum)
      }
      explain={says.takeOut.explain}
      confirm={says.takeOut.confirm}
      danger
      close={close}
      act={act}
    >
      <Facts
        facts={[
          [says.items.columns.payee, item.payee.name],
          [says.items.columns.code, item.code ?? '–'],
        ]}
      />
      {others.length > 0 && (
        <Checkbox
          label={says.takeOut.sameAgent(others.length)}
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      )}
      <Radio.Group label={says.takeOut.afterwards} value={next} onChange={setNext}>
        <Stack gap={6} mt={4}>
          <Radio value="fail" label={says.takeOut.fail} />
          <Radio value="another" label={says.takeOut.another} />
        </Stack>
      </Radio.Group>
    </ActDialog>
  )
}

/** An order's id begins with its agent's. */
function agentOf({ txn_id }: Item): string | undefined {
  return txn_id.split('-')[0]
}

export function Reseal({ file, close }: FileDialogProps) {
  const changed = useChanged(file.id)
  return (
    <ActDialog
      draft="reseal"
      title={says.reseal.title}
      explain={says.reseal.explain(file.sealed?.execution_date ?? '')}
      confirm={says.reseal.button}
      close={close}
      act={async (given) => {
        await ask(api.resealPayoutFile, { params: { id: file.id }, body: given })
        await changed(says.reseal.done)
      }}
    />
  )
}

/** A page shows so many to choose from; of more the codes are named by a program. */
const mostChoices = 200

/** Proposes to say that the bank does not pay the file, or some of its payouts. */
export function Abandon({ file, close }: FileDialogProps) {
  const changed = useChanged(file.id)
  const [evidence, setEvidence] = useDraft('abandon/evidence', '')
  const open = openItems(file)
  const [chosen, setChosen] = useState(() => open.map(({ txn_id }) => txn_id))
  const isAll = chosen.length === open.length
  return (
    <ActDialog
      draft="abandon"
      title={says.abandon.title}
      explain={says.abandon.explain}
      confirm={says.abandon.confirm}
      danger
      isReady={evidence.trim() !== '' && chosen.length > 0}
      close={close}
      act={async (given) => {
        const codes = open.flatMap(({ txn_id, code }) =>
          code !== null && chosen.includes(txn_id) ? [code] : [],
        )
        const body = { evidence: evidence.trim(), ...(!isAll && { codes }), ...given }
        await ask(api.abandonPayoutFile, { params: { id: file.id }, body }).finally(changed)
      }}
    >
      {open.length > 1 && open.length <= mostChoices && (
        <Checkbox.Group label={says.abandon.which} value={chosen} onChange={setChosen}>
          <Stack gap={6} mt={4}>
            {open.map(({ txn_id, code, amount, payee }) => (
              <Checkbox
                key={txn_id}
                value={txn_id}
                label={`${moneyText(amount, file.currency)} · ${payee.name} · ${code}`}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      <Textarea
        label={says.abandon.evidence}
        description={says.abandon.evidenceHint}
        required
        maxLength={1000}
        value={evidence}
        onChange={(event) => setEvidence(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
