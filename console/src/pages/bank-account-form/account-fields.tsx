import { Checkbox, NativeSelect, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { Answer } from '../../api.ts'
import { currencies, currencyChosen } from '../../parts/currencies.ts'
import { Panel } from '../../parts/panel.tsx'
import type { api } from '../../paths.ts'
import { bankChoices } from '../providers/route-row.tsx'
import { type AccountDraft, characterRules } from './account-draft.ts'
import classes from './form.module.css'
import { formWords as says } from './form-words.ts'

type Choices = Answer<typeof api.bankAccountChoices>
type Bank = Answer<typeof api.banks>['data'][number]

interface Props {
  draft: AccountDraft
  change: (changed: Partial<AccountDraft>) => void
  errors: Partial<Record<string, string>>
  choices: Choices
  banks: Bank[]
  /** What follows from the rest where nothing is said. */
  defaults:
    | { match: string; code_form: string; surplus_steps: number; hold_hours: number; zone: string }
    | undefined
  isNew: boolean
}

const { fields } = says

/** The fields of a bank account. What the service can work out may stay empty. */
export function AccountFields(props: Props) {
  const { draft, change, errors, choices, isNew } = props
  const own = choices.currencies.find(({ currency }) => currency === draft.currency)
  const kind = own?.qr_kinds.find((each) => each.kind === draft.qr_kind)
  const typed = (name: keyof AccountDraft & keyof typeof fields) => ({
    label: fields[name] as string,
    error: errors[name],
    value: String(draft[name]),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      change({ [name]: event.currentTarget.value }),
  })
  return (
    <Stack gap="md">
      <Panel title={says.groups.account}>
        <div className={classes.fields}>
          <TextInput
            {...typed('name')}
            description={fields.nameHint}
            required
            disabled={!isNew}
            maxLength={32}
          />
          <NativeSelect
            label={fields.currency}
            value={draft.currency}
            data={currencies}
            disabled={!isNew}
            onChange={({ currentTarget: { value } }) =>
              // Banks and QR codes belong to one currency.
              change({
                currency: currencyChosen(value),
                bank: '',
                qr_kind: 'none',
                qr_value: '',
                payout_format: '',
              })
            }
          />
          <BankField {...props} kind={own?.bank_code ?? 'bic'} />
          <TextInput {...typed('account_no')} required />
          <TextInput
            {...typed('account_name')}
            description={fields.account_nameHint}
            required
            maxLength={100}
          />
          <TextInput
            {...typed('zone')}
            description={fields.zoneHint}
            placeholder={props.defaults?.zone}
          />
        </div>
      </Panel>
      <Panel title={says.groups.qr}>
        <div className={classes.fields}>
          <NativeSelect
            label={fields.qr_kind}
            value={draft.qr_kind}
            data={(own?.qr_kinds ?? []).map((each) => ({
              value: each.kind,
              label: says.qrKinds[each.kind] ?? each.kind,
            }))}
            onChange={({ currentTarget: { value } }) =>
              change({
                qr_kind: own?.qr_kinds.find((each) => each.kind === value)?.kind ?? 'none',
                qr_value: '',
              })
            }
          />
          {draft.qr_kind === 'template' ? (
            <Textarea
              label={fields.template}
              error={errors.qr_value}
              className={classes.whole}
              value={draft.qr_value}
              onChange={(event) => change({ qr_value: event.currentTarget.value })}
            />
          ) : (
            kind?.takes != null && (
              <TextInput
                {...typed('qr_value')}
                description={sentence(kind.takes)}
                required={!kind.is_optional}
              />
            )
          )}
          <TextInput {...typed('city')} />
          <TextInput {...typed('address')} description={fields.addressHint} />
        </div>
        {kind?.takes == null && errors.qr_value !== undefined && (
          <p className={classes.error}>{errors.qr_value}</p>
        )}
      </Panel>
      <Panel title={says.groups.recognise}>
        <div className={classes.fields}>
          <NativeSelect
            label={fields.match}
            value={draft.match}
            onChange={({ currentTarget: { value } }) =>
              change({
                match:
                  value === 'code' || value === 'amount' || value === 'code+amount' ? value : '',
              })
            }
          >
            {isNew && (
              <option value="">
                {fields.automatic}: {says.matches[props.defaults?.match ?? '']}
              </option>
            )}
            {Object.entries(says.matches).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </NativeSelect>
          <TextInput
            {...typed('code_form')}
            description={fields.code_formHint}
            placeholder={props.defaults?.code_form ?? ''}
          />
          <TextInput
            {...typed('surplus_steps')}
            description={fields.surplus_stepsHint}
            inputMode="numeric"
            placeholder={String(props.defaults?.surplus_steps ?? '')}
          />
          <TextInput
            {...typed('hold_hours')}
            description={fields.hold_hoursHint}
            inputMode="numeric"
            placeholder={String(props.defaults?.hold_hours ?? '')}
          />
        </div>
      </Panel>
      <Panel title={says.groups.reports}>
        <div className={classes.fields}>
          <NativeSelect
            label={fields.feed}
            value={draft.feed}
            data={Object.entries(says.feeds).map(([value, label]) => ({ value, label }))}
            onChange={({ currentTarget: { value } }) =>
              change({ feed: value === 'signed' || value === 'token' ? value : 'none' })
            }
          />
          <TextInput {...typed('encoding')} description={fields.encodingHint} />
          {draft.feed === 'token' && (
            <>
              <TextInput
                {...typed('token_limit')}
                description={fields.token_limitHint}
                inputMode="decimal"
              />
              <TextInput
                {...typed('token_day_limit')}
                description={fields.token_day_limitHint}
                inputMode="decimal"
              />
            </>
          )}
          {draft.feed !== 'none' && (
            <ProfileField
              label={fields.feed_profile}
              ownLabel={fields.feed_profileOwn}
              value={draft.feed_profile}
              error={errors.feed_profile}
              change={(feed_profile) => change({ feed_profile })}
              none={says.feedProfiles.none}
              own={says.feedProfiles.own}
              known={choices.feed_profiles.map((each) => ({ ...each, label: each.name }))}
            />
          )}
          <ProfileField
            label={fields.csv_profile}
            ownLabel={fields.csv_profileOwn}
            value={draft.csv_profile}
            error={errors.csv_profile}
            change={(csv_profile) => change({ csv_profile })}
            none={says.csv.none}
            own={says.csv.own}
            known={choices.csv_profiles.map((each) => ({
              ...each,
              label: says.csv.known(each.bank, each.export, each.checked),
            }))}
          />
          <TagsInput
            label={fields.own_accounts}
            description={fields.own_accountsHint}
            error={errors.own_accounts}
            className={classes.whole}
            value={draft.own_accounts}
            onChange={(own_accounts) => change({ own_accounts })}
          />
        </div>
      </Panel>
      <PayoutFields {...props} />
      <SftpFields {...props} />
      <Panel title={says.groups.limits}>
        <div className={classes.fields}>
          <TextInput
            {...typed('day_limit')}
            description={fields.day_limitHint}
            inputMode="decimal"
          />
          <TextInput
            {...typed('file_limit')}
            description={fields.file_limitHint}
            inputMode="decimal"
          />
          <TextInput
            {...typed('expected_deduction')}
            description={fields.expected_deductionHint}
            inputMode="decimal"
          />
          {isNew && (
            <Checkbox
              label={fields.route}
              checked={draft.route}
              onChange={(event) => change({ route: event.currentTarget.checked })}
            />
          )}
        </div>
      </Panel>
    </Stack>
  )
}

function BankField({
  draft,
  change,
  errors,
  banks,
  kind,
}: Props & { kind: 'table' | 'ifsc' | 'bic' }) {
  if (kind === 'table') {
    return (
      <NativeSelect
        label={fields.bank}
        error={errors.bank}
        required
        value={draft.bank}
        onChange={(event) => change({ bank: event.currentTarget.value })}
      >
        <option value="">{fields.chooseBank}</option>
        {bankChoices(banks, draft.currency).map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </NativeSelect>
    )
  }
  return (
    <TextInput
      label={fields.bank}
      description={fields.bankHint[kind]}
      error={errors.bank}
      value={draft.bank}
      onChange={(event) => change({ bank: event.currentTarget.value.toUpperCase() })}
    />
  )
}

function PayoutFields({ draft, change, errors, choices }: Props) {
  const formats = choices.payout_formats.filter(({ currencies: all }) =>
    all.includes(draft.currency),
  )
  // What is wrong stays in sight, or nobody could mend it.
  const isWrong = Object.keys(errors).some((name) => name.startsWith('payout_'))
  const limit = (name: 'payout_file_limit' | 'payout_day_limit') => (
    <TextInput
      label={fields[name]}
      description={fields.payoutLimitHint}
      error={errors[name]}
      inputMode="decimal"
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
  const list = (name: 'payout_cutoffs' | 'payout_holidays') => (
    <TagsInput
      label={fields[name]}
      description={fields[`${name}Hint`]}
      error={errors[name]}
      value={draft[name]}
      onChange={(values) => change({ [name]: values })}
    />
  )
  return (
    <Panel title={says.groups.payouts}>
      <div className={classes.fields}>
        <NativeSelect
          label={fields.payout}
          error={errors.payout}
          value={draft.payout}
          data={Object.entries(says.payouts).map(([value, label]) => ({ value, label }))}
          onChange={({ currentTarget: { value } }) =>
            change({ payout: value === 'file' ? 'file' : 'none' })
          }
        />
        {(draft.payout === 'file' || isWrong) && (
          <>
            <NativeSelect
              label={fields.payout_format}
              description={fields.payout_formatHint}
              error={errors.payout_format}
              required
              value={draft.payout_format}
              onChange={(event) => change({ payout_format: event.currentTarget.value })}
            >
              <option value="">{fields.choosePayoutFormat}</option>
              {formats.map(({ name, title, checked }) => (
                <option key={name} value={name}>
                  {says.payoutFormat(title, checked)}
                </option>
              ))}
            </NativeSelect>
            <NativeSelect
              label={fields.payout_characters}
              description={fields.payout_charactersHint}
              error={errors.payout_characters}
              value={draft.payout_characters}
              data={characterRules.map((value) => ({ value, label: says.payoutCharacters[value] }))}
              onChange={({ currentTarget: { value } }) =>
                change({
                  payout_characters: characterRules.find((each) => each === value) ?? 'format',
                })
              }
            />
            {list('payout_cutoffs')}
            {list('payout_holidays')}
            {limit('payout_file_limit')}
            {limit('payout_day_limit')}
            <NativeSelect
              label={fields.payout_trusts_paid}
              description={fields.payout_trusts_paidHint}
              error={errors.payout_trusts_paid}
              value={draft.payout_trusts_paid ? 'yes' : 'no'}
              data={[
                { value: 'no', label: fields.trustsDebit },
                { value: 'yes', label: fields.trustsPaid },
              ]}
              onChange={({ currentTarget: { value } }) =>
                change({ payout_trusts_paid: value === 'yes' })
              }
            />
            <TextInput
              label={fields.payout_draft_before}
              description={fields.payout_draft_beforeHint}
              error={errors.payout_draft_before}
              inputMode="numeric"
              value={draft.payout_draft_before}
              onChange={(event) => change({ payout_draft_before: event.currentTarget.value })}
            />
          </>
        )}
      </div>
    </Panel>
  )
}

/** The bank's server for files. The private key is asked for when the form is saved: it is kept nowhere here. */
function SftpFields({ draft, change, errors }: Props) {
  const field = (name: SftpField) => (
    <TextInput
      label={fields[name]}
      description={fields[`${name}Hint`]}
      error={errors[name]}
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
  const isWrong = Object.keys(errors).some((name) => name.startsWith('sftp_'))
  return (
    <Panel title={says.groups.sftp}>
      <div className={classes.fields}>
        {field('sftp_host')}
        {(draft.sftp_host !== '' || isWrong) && (
          <>
            {field('sftp_port')}
            {field('sftp_user')}
            {field('sftp_host_key')}
            {field('sftp_put_folder')}
            {field('sftp_get_folder')}
          </>
        )}
      </div>
    </Panel>
  )
}

type SftpField =
  | 'sftp_host'
  | 'sftp_port'
  | 'sftp_user'
  | 'sftp_host_key'
  | 'sftp_put_folder'
  | 'sftp_get_folder'

/** A private key for the bank's server, until the dialog that asks for it is closed. */
export function PrivateKeyField(props: {
  isNew: boolean
  value: string
  change: (value: string) => void
}) {
  return (
    <Textarea
      label={fields.sftp_key}
      description={props.isNew ? fields.sftp_keyHint : fields.sftp_keyStays}
      required={props.isNew}
      autosize
      minRows={3}
      maxRows={8}
      spellCheck={false}
      autoComplete="off"
      value={props.value}
      onChange={(event) => props.change(event.currentTarget.value)}
    />
  )
}

/** One of the known profiles, or one of the operator's own; the text itself is kept with the account. */
function ProfileField(props: {
  label: string
  ownLabel: string
  value: string
  error: string | undefined
  change: (profile: string) => void
  none: string
  own: string
  known: { name: string; profile: string; label: string }[]
}) {
  const { value, change } = props
  const known = props.known.find(({ profile }) => sameJson(profile, value))
  const isNone = value === ''
  return (
    <>
      <NativeSelect
        label={props.label}
        className={classes.whole}
        value={isNone ? '' : (known?.name ?? 'own')}
        onChange={({ currentTarget: { value: chosen } }) =>
          change(
            chosen === ''
              ? ''
              : (props.known.find(({ name }) => name === chosen)?.profile ?? '{\n}'),
          )
        }
      >
        <option value="">{props.none}</option>
        <option value="own">{props.own}</option>
        {props.known.map((each) => (
          <option key={each.name} value={each.name}>
            {each.label}
          </option>
        ))}
      </NativeSelect>
      {!isNone && (
        <Textarea
          label={props.ownLabel}
          error={props.error}
          className={classes.whole}
          classNames={{ input: classes.code ?? '' }}
          maxRows={14}
          spellCheck={false}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
        />
      )}
    </>
  )
}

function sameJson(a: string, b: string): boolean {
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b))
  } catch {
    return false
  }
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
