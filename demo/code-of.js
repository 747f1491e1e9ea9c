/**
 * The source of functions, by name, and where each one is (`nameAt`): what the page shows is what runs.
 * A function ends at the first line that has its closing bracket in the column where it began.
 */
export async function codeOf(paths, read) {
  const found = {}
  for (const path of paths) {
    const text = await read(path)
    const pattern =
      /^( *)(?:async function (\w+)|function (\w+)|const (\w+) = \w+\(\{$)[\s\S]*?^\1\}\)?$/gm
    for (const { 0: code, 1: indent, index, ...names } of text.matchAll(pattern)) {
      const name = names[2] ?? names[3] ?? names[4]
      const line = text.slice(0, index).split('\n').length
      found[name] = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      found[`${name}At`] = `demo/${path}, line ${line}`
    }
  }
  return found
}
