import { Button, FileButton, Group, Stack, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Answer } from '../../api.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { readBase64 } from '../../parts/read-base64.ts'
import type { api } from '../../paths.ts'
import classes from './form.module.css'
import { formWords } from './form-words.ts'

export type Preview = Answer<typeof api.previewBankAccount>

/** A file of the bank that is only looked at. */
export interface Sample {
  name: string
  content: string
}

const { preview: says } = formWords
const maxBytes = 16 * 1024 * 1024

/** What payers of the account would see, and how a file of its bank would be read. */
export function AccountPreview(props: {
  preview: Preview | undefined
  currency: string
  sample: Sample | null
  setSample: (sample: Sample | null) => void
}) {
  const sees = props.preview?.payer_sees
  return (
    <Stack gap="md">
      <Panel title={says.title}>
        <div aria-live="polite">
          {sees ? <PayerSees sees={sees} currency={props.currency} /> : <p>{says.wait}</p>}
          {props.preview?.warning && <p className={classes.warning}>{props.preview.warning}</p>}
        </div>
      </Panel>
      <SamplePanel {...props} />
    </Stack>
  )
}

function PayerSees(props: { sees: NonNullable<Preview['payer_sees']>; currency: string }) {
  const { amount, payable, code, qr } = props.sees
  const { currency } = props
  return (
    <>
      <p>
        {says.order} <Money amount={amount} currency={currency} /> {says.pays}{' '}
        <strong>
          <Money amount={payable} currency={currency} />
        </strong>
        {code !== null && (
          <>
            {' '}
            {says.code} <code>{code}</code>
          </>
        )}
        .
      </p>
      {qr === null ? (
        <p>{says.noQr}</p>
      ) : (
        <>
          <img className={classes.qr} src={qr.picture} alt={says.alt} />
          <RawView raw={qr.text} label={says.text} />
        </>
      )}
    </>
  )
}

function SamplePanel(props: {
  preview: Preview | undefined
  currency: string
  sample: Sample | null
  setSample: (sample: Sample | null) => void
}) {
  const { sample, setSample, preview, currency } = props
  const reading = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > maxBytes) throw new Error(says.tooLarge)
      setSample({ name: file.name, content: await readBase64(file) })
    },
  })
  const paste = async (text: string) => {
    if (text.trim() !== '') setSample({ name: '', content: await readBase64(new Blob([text])) })
  }
  const read = sample && preview?.sample
  return (
    <Panel title={says.sampleTitle}>
      <p>{says.sampleSays}</p>
      <Group gap="xs" mb="xs">
        <FileButton onChange={(file) => file && reading.mutate(file)}>
          {(button) => (
            <Button variant="default" {...button}>
              {says.choose}
            </Button>
          )}
        </FileButton>
        {sample && <span>{sample.name}</span>}
        {sample && (
          <Button variant="default" onClick={() => setSample(null)}>
            {says.forget}
          </Button>
        )}
      </Group>
      {reading.isError && (
        <p className={classes.error} role="alert">
          {reading.error.message}
        </p>
      )}
      {!sample && (
        <Textarea
          label={says.paste}
          maxRows={4}
          spellCheck={false}
          onChange={(event) => void paste(event.currentTarget.value)}
        />
      )}
      {read && (
        <div aria-live="polite">
          {read.refused ? (
            <div className={classes.refused}>
              <strong>{says.refused(read.refused.line)}</strong>
              <p>{read.refused.message}</p>
            </div>
          ) : (
            <>
              <p>{says.read(read.format ?? '', read.entries)}</p>
              <DataTable
                label={says.sampleTitle}
                rows={read.first}
                rowKey={(row) => String(row.line)}
                empty={null}
                columns={[
                  { key: 'line', head: says.columns.line, cell: (row) => row.line },
                  { key: 'day', head: says.columns.day, phone: 'plain', cell: (row) => row.day },
                  {
                    key: 'amount',
                    head: says.columns.amount,
                    right: true,
                    phone: 'plain',
                    cell: (row) => <Money amount={row.amount} currency={currency} signed />,
                  },
                  { key: 'text', head: says.columns.text, clip: true, cell: (row) => row.text },
                  {
                    key: 'payer',
                    head: says.columns.payer,
                    clip: true,
                    cell: (row) => row.payer.name ?? row.payer.account_no ?? '–',
                  },
                ]}
              />
            </>
          )}
        </div>
      )}
    </Panel>
  )
}
