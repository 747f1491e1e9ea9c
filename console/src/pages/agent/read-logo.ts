import { agentWords } from './agent-words.ts'

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp']
const maxBytes = 32_768

const { logo: says } = agentWords

/**
 * Reads a picture as a data: URL, the service's format. Throws a message that says what is wrong with it. The
 * service checks the file's content again; checking here gives the user an immediate answer.
 */
export async function readLogo(file: File): Promise<string> {
  if (!logoTypes.includes(file.type)) throw new Error(says.notTaken(file.name))
  if (file.size > maxBytes) throw new Error(says.tooLarge(file.name, Math.ceil(file.size / 1024)))
  const url = await dataUrl(file)
  const picture = new Image()
  picture.src = url
  await picture.decode().catch(() => {
    throw new Error(says.broken(file.name))
  })
  return url
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(new Error(says.broken(file.name)))
    reader.readAsDataURL(file)
  })
}
