/** Account numbers by ISO 13616 and the check digits that they share with creditor references (ISO 11649). */

/** How long the IBAN of each country is, by the registry of ISO 13616. */
const lengths = new Map(
  `
  AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18
  DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23
  IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27
  MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19
  SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
  `
    .trim()
    .split(/\s+/)
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
)

/** Whether a text is written as an IBAN of a country that has them: with two letters and two digits first. */
export function looksLikeIban(text: string): boolean {
  return /^[A-Z]{2}\d{2}/i.test(text) && lengths.has(text.slice(0, 2).toUpperCase())
}

/** What is wrong with an IBAN, as the end of a sentence; undefined if nothing is. */
export function ibanFault(text: string): string | undefined {
  const iban = text.toUpperCase()
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(iban)) {
    return 'is not an IBAN: it begins with a country, two letters, and two digits'
  }
  const length = lengths.get(iban.slice(0, 2))
  if (length === undefined) return `is not an IBAN: the country ${iban.slice(0, 2)} has none`
  if (iban.length !== length) {
    return `is not an IBAN: one of ${iban.slice(0, 2)} has ${length} characters, this has ${iban.length}`
  }
  if (mod97(iban.slice(4) + iban.slice(0, 4)) !== 1) {
    return 'is not an IBAN: its check digits are wrong, so a character was mistyped'
  }
  return undefined
}

/** The remainder by 97 of a text read as a number, letters as 10 to 35. */
export function mod97(text: string): number {
  let remainder = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder
}
