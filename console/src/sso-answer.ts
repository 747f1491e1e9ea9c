/** What an issuer sent this browser back with. It is taken out of the address, and given out once. */
export const ssoAnswer = {
  query: readQuery(),
  take(): string | undefined {
    const { query } = ssoAnswer
    ssoAnswer.query = undefined
    return query
  },
}

function readQuery(): string | undefined {
  const { pathname, search } = window.location
  const given = new URLSearchParams(search)
  const isAnswer = given.has('state') && (given.has('code') || given.has('error'))
  if (!pathname.endsWith('/console/sign-in') || !isAnswer) return undefined
  window.history.replaceState(null, '', pathname)
  return search.slice(1)
}
