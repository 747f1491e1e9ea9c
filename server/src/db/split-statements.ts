/**
 * Tokens that may contain a semicolon which does not end the statement: comments, quoted text and names,
 * dollar quotes.
 */
const whole =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|[^-/'"$;]+|[\s\S]/g

/** Splits an SQL file into its statements, without the comments around them. */
export function splitStatements(sql: string): string[] {
  const statements = ['']
  for (const [part] of sql.matchAll(whole)) {
    if (part === ';') statements.push('')
    else if (!/^(--|\/\*)/.test(part)) statements.push(`${statements.pop()}${part}`)
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}
