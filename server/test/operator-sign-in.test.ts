import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inviteFirstAdmin } from '../src/operators/invite.ts'
import { acceptInvitation, OperatorClient, signIn } from './support/operator.ts'
import { startTestService, type TestService } from './support/service.ts'

let test: TestService

beforeAll(async () => {
  test = await startTestService()
})
afterEach(() => test.prove())
afterAll(() => test.close())

it('who is signed in sees who they are', async () => {
  const admin = await signIn(test, 'admin')
  const { status, json } = await admin.get('/me')
  expect({ status, json }).toMatchObject({ status: 200, json: { user: { email: admin.email } } })
})
