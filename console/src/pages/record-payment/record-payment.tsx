import { Button, FileButton, Group, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { moneyText } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { readBase64 } from '../../parts/read-base64.ts'
import { useFilters } from '../../parts/url-filters.ts'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from './record-payment.module.css'
import { recordPaymentWords as says } from './record-payment-words.ts'

const maxBytes = 4 * 1024 * 1024

interface Picture {
  name: string
  type: string
  content: string
}

/** Records a payment by hand, from the slip of its payer. */
export default function RecordPayment() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { filters } = useFilters()
  const account = useQuery({
    queryKey: ['bank-account', name],
    queryFn: ({ signal }) => ask(api.bankAccount, { params: { name }, signal }),
  })
  const [draft, setDraft] = useDraft('payment', () => ({
    day: '',
    amount: filters.amount ?? '',
    order: filters.order ?? '',
    payer: '',
    accountNo: '',
    bank: '',
    reference: '',
    text: '',
  }))
  // A picture of somebody's slip is not kept in the browser.
  const [picture, setPicture] = useState<Picture>()
  const [fault, setFault] = useState<unknown>()
  const [isAsking, setAsking] = useState(false)
  const read = async (file: File | null) => {
    if (!file) return
    setFault(file.size > maxBytes ? new Error(says.tooLarge) : undefined)
    if (file.size <= maxBytes) {
      setPicture({ name: file.name, type: file.type, content: await readBase64(file) })
    }
  }
  const input = (field: keyof typeof draft, more: Parameters<typeof TextInput>[0] = {}) => ({
    value: draft[field],
    onChange: ({ currentTarget: { value } }: React.ChangeEvent<HTMLInputElement>) =>
      setDraft((now) => ({ ...now, [field]: value })),
    ...more,
  })
  const isWhole = draft.day && draft.amount.trim() && draft.payer.trim() && picture
  const act = async ({ reason, code }: Given) => {
    if (!picture) return
    const { slip } = await ask(api.bringSlip, { body: { content: picture.content } })
    const { known } = await ask(api.recordPayment, {
      params: { name },
      body: {
        day: draft.day,
        amount: plainNumber(draft.amount),
        payer: {
          name: draft.payer.trim(),
          ...(draft.accountNo.trim() && { account_no: draft.accountNo.trim() }),
          ...(draft.bank.trim() && { bank: draft.bank.trim() }),
        },
        slip,
        ...(draft.reference.trim() && { reference: draft.reference.trim() }),
        ...(draft.text.trim() && { text: draft.text.trim() }),
        ...(draft.order.trim() && { txn_id: draft.order.trim() }),
        reason,
        code,
      },
    })
    for (const key of ['bank-movements', 'bank-account', 'bank-days']) {
      void queries.invalidateQueries({ queryKey: [key, name] })
    }
    notifications.show({ message: known ? says.known : says.done })
    await navigate({ to: pages.bankAccount(name), search: { view: 'movements' } })
  }
  const { fields } = says
  const currency = account.data?.currency ?? ''
  return (
    <>
      <PageHead
        title={says.title(name)}
        says={`${says.says} ${says.people(me.mode === 'sandbox')}`}
      />
      {account.isError && <ProblemPanel error={account.error} />}
      <div className={classes.columns}>
        <Stack gap="md">
          <Panel title={says.payment}>
            <Stack gap="sm">
              <Group grow align="flex-start" preventGrowOverflow={false}>
                <TextInput
                  label={fields.day}
                  description={fields.dayHint}
                  type="date"
                  required
                  {...input('day')}
                />
                <TextInput
                  label={fields.amount}
                  description={fields.amountHint}
                  inputMode="decimal"
                  required
                  rightSection={currency}
                  rightSectionWidth={56}
                  {...input('amount')}
                />
              </Group>
              <TextInput label={fields.order} description={fields.orderHint} {...input('order')} />
              <TextInput
                label={fields.reference}
                description={fields.referenceHint}
                maxLength={64}
                {...input('reference')}
              />
              <TextInput label={fields.text} maxLength={500} {...input('text')} />
            </Stack>
          </Panel>
          <Panel title={says.payer}>
            <Stack gap="sm">
              <TextInput label={fields.name} required maxLength={200} {...input('payer')} />
              <Group grow align="flex-start" preventGrowOverflow={false}>
                <TextInput
                  label={fields.accountNo}
                  description={fields.accountNoHint}
                  maxLength={64}
                  {...input('accountNo')}
                />
                <TextInput label={fields.bank} maxLength={64} {...input('bank')} />
              </Group>
            </Stack>
          </Panel>
        </Stack>
        <Panel title={says.slip}>
          <FileButton accept="image/jpeg,image/png,image/webp" onChange={(file) => void read(file)}>
            {(button) => (
              <Button variant="default" size="sm" {...button}>
                {picture ? says.another : says.choose}
              </Button>
            )}
          </FileButton>
          <p className={classes.hint}>{says.pictureHint}</p>
          {fault !== undefined && <ProblemPanel error={fault} />}
          {picture && (
            <img
              className={classes.picture}
              src={`data:${picture.type};base64,${picture.content}`}
              alt={says.picture}
            />
          )}
        </Panel>
      </div>
      <Group justify="flex-end" mt="md">
        <ActButton
          size="sm"
          variant="filled"
          whyNot={whyNot(me, 'decide_payments') ?? (isWhole ? undefined : says.missing)}
          onClick={() => setAsking(true)}
        >
          {says.record}
        </ActButton>
      </Group>
      {isAsking && (
        <ActDialog
          draft="payment"
          title={says.dialog.title(amountText(draft.amount, currency))}
          explain={says.dialog.explain}
          confirm={says.record}
          danger
          close={() => setAsking(false)}
          act={act}
        />
      )}
    </>
  )
}

function amountText(amount: string, currency: string): string {
  const number = Number(plainNumber(amount))
  return Number.isFinite(number) ? `${moneyText(number, currency)} ${currency}` : amount
}
