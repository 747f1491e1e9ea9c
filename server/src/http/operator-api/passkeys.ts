import Type from 'typebox'
import { raiseAlert } from '../../alerts/raise-alert.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import {
  addPasskey,
  assertionOptions,
  listPasskeys,
  newPasskeyProof,
  registrationOptions,
  relyingParty,
  removePasskey,
  useAssertion,
} from '../../operators/passkeys.ts'
import type { SignIn } from '../../operators/sign-in.ts'
import { tellOwner } from '../../operators/tell-people.ts'
import { plainText } from '../printable-text.ts'
import { cookieOf, setCookie } from './console-cookies.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, openRoute, operatorRoute } from './operator-route.ts'
import { isoTime, orNull, strict } from './schemas/shapes.ts'
import { Done, Me } from './schemas/users.ts'
import { meOf } from './sign-in.ts'

const Options = Type.Object({
  options: Type.Unknown({ description: 'for the browser: a PublicKeyCredential…OptionsJSON' }),
})
const answer = Type.String({
  minLength: 2,
  maxLength: 12_000,
  description: "the browser's answer, as JSON text",
})

/** Passkeys: made and removed by their owner, used to sign in and in the place of a code. */
export function passkeyRoutes(api: OperatorApi, deps: OperatorDeps, signIn: SignIn): void {
  const { pool, now, publicUrl } = deps.desk
  const own = { tag: 'Passkeys', permission: 'view', agents: 'own' } as const

  operatorRoute(api, {
    ...own,
    method: 'GET',
    url: '/me/passkeys',
    summary: 'My passkeys',
    schema: {
      response: Type.Object({
        available: Type.Boolean({ description: 'false if PUBLIC_URL has no name' }),
        data: Type.Array(
          Type.Object({
            id: Type.String(),
            name: Type.String(),
            created_at: isoTime('when it was added'),
            last_used_at: orNull(isoTime('when it was last used')),
          }),
        ),
      }),
    },
    handler: async ({ operator }) => ({
      available: relyingParty(publicUrl()) !== undefined,
      data: (await listPasskeys(pool, operator.userId)).map((each) => ({
        id: each.id,
        name: each.name,
        created_at: each.createdAt.toISOString(),
        last_used_at: each.lastUsedAt?.toISOString() ?? null,
      })),
    }),
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/passkeys/options',
    summary: 'What a browser needs to make a passkey',
    schema: { body: Type.Object({ code: Type.Optional(Code) }, strict), response: Options },
    handler: async ({ operator }) => ({
      options: await registrationOptions(pool, publicUrl(), operator, now()),
    }),
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/passkeys',
    summary: 'Add the passkey that a browser has made',
    withoutCode: 'the code was given for the challenge that this answers, in this session, once',
    schema: {
      body: Type.Object({ name: plainText(1, 60, 'what you call it'), answer }, strict),
      response: Done,
    },
    handler: async ({ operator, body }) => {
      await change(deps, operator, 'add_passkey', { name: body.name }, async (tx) => {
        await addPasskey(tx, publicUrl(), operator, body, now())
        await raiseAlert(tx, {
          kind: 'new_secret',
          subject: `user ${operator.userId}`,
          words: 'A passkey was added to your account. If that was not you, tell an admin at once.',
          to: { userId: operator.userId },
          at: now(),
        })
      })
      return {}
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/passkeys/remove',
    summary: 'Remove one of my passkeys',
    schema: {
      body: Type.Object(
        { id: Type.String({ pattern: '^[A-Za-z0-9_-]{16,1400}$' }), code: Type.Optional(Code) },
        strict,
      ),
      response: Done,
    },
    handler: async ({ operator, body }) => {
      await change(deps, operator, 'remove_passkey', undefined, async (tx) => {
        if (!(await removePasskey(tx, operator.userId, body.id))) {
          throw new Problem('not_found', 'You have no such passkey.')
        }
        const words = 'A passkey was removed from your account.'
        await tellOwner(tx, operator.userId, { what: 'passkey removed', words, at: now() })
      })
      return {}
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/passkeys/challenge',
    summary: 'What a browser needs to use one of my passkeys',
    withoutCode: 'it changes nothing',
    schema: { response: Options },
    handler: async ({ operator }) => ({
      options: await assertionOptions(pool, publicUrl(), operator, now()),
    }),
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/passkeys/prove',
    summary: 'Use a passkey; the answer stands for a fresh code, once, in this session',
    withoutCode: 'it is what makes a code',
    schema: {
      body: Type.Object({ answer }, strict),
      response: Type.Object({ code: Type.String() }),
    },
    handler: async ({ operator, body }) => {
      const code = await inTransaction(pool, async (tx) => {
        const userId = await useAssertion(tx, publicUrl(), body.answer, operator, now())
        return userId === undefined ? undefined : newPasskeyProof(tx, operator, now())
      })
      if (code === undefined) throw new Problem('code_refused', 'Use the passkey once more.')
      return { code }
    },
  })

  openRoute(api, {
    method: 'POST',
    url: '/sign-in/passkey/options',
    summary: 'What a browser needs to sign in with a passkey',
    tag: 'Sign-in',
    schema: { response: Options },
    handler: async ({ request }) => {
      await signIn.slowDownAddress(request.ip)
      return { options: await assertionOptions(pool, publicUrl(), undefined, now()) }
    },
  })

  openRoute(api, {
    method: 'POST',
    url: '/sign-in/passkey',
    summary: 'Sign in with a passkey; the answer sets a cookie',
    tag: 'Sign-in',
    schema: { body: Type.Object({ answer }, strict), response: Me },
    handler: async ({ request, reply, body }) => {
      const { token, device, operator } = await signIn.signInWithPasskey(publicUrl(), {
        answer: body.answer,
        device: cookieOf(request, publicUrl(), 'device'),
        ip: request.ip,
        userAgent: request.headers['user-agent'],
      })
      setCookie(reply, publicUrl(), 'session', token)
      setCookie(reply, publicUrl(), 'device', device)
      return meOf(deps, operator)
    },
  })
}

async function change(
  { desk }: OperatorDeps,
  operator: Operator,
  action: string,
  after: object | undefined,
  write: (tx: Tx) => Promise<void>,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    await write(tx)
    const subject = { kind: 'user', id: String(operator.userId) }
    await writeAudit(tx, { at, operator, action, subject, agentId: operator.agentId, after })
  })
}
