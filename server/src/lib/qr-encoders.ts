import { qrDataUrl } from './qr-png.ts'

/**
 * Pictures of QR codes are not stored: an order keeps the text and the version of the encoder, and its picture is drawn
 * again for every answer, byte for byte. So an encoder that was released stays as it is. One that draws anything else
 * gets a new version beside it; qr-encoders.test.ts holds each to the digests of its pictures.
 */
const encoders = new Map<number, (text: string) => string>([[1, qrDataUrl]])

/** The one that new orders get. */
export const qrEncoder = 1

/** The picture as a data: URL; undefined if this release does not know the encoder, which a later one has. */
export function qrPicture(encoder: number, text: string): string | undefined {
  return encoders.get(encoder)?.(text)
}
