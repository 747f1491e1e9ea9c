import type { Words } from './english.ts'

export const portuguese: Partial<Words> = {
  payTo: 'Pagar a {agent}',
  paymentTo: 'Pagamento a {agent}',
  reference: 'Referência',
  transaction: 'Transação',
  amount: 'Valor',
  timeLeft: 'Tempo restante',
  until: 'até {time}',
  leftToPay: 'Restam {time} para pagar',
  scanTitle: 'Leia o QR Code',
  scanHow:
    'Abra o aplicativo do seu banco, escolha ler ou pagar com QR Code e aponte a câmera para este código. Vai pagar neste celular? Salve a imagem e abra-a no aplicativo do banco.',
  'scan.promptpay':
    'Abra o aplicativo do seu banco, escolha ler um código e aponte a câmera para este código PromptPay. O valor já está nele; não o altere.',
  'scan.vietqr':
    'Abra o aplicativo do seu banco, escolha ler um QR Code e aponte a câmera para este código VietQR. Não altere o valor nem a mensagem.',
  'scan.pix':
    'Abra o aplicativo do seu banco, escolha Pix e depois pagar com QR Code, e aponte a câmera para este código. Não altere o valor.',
  'scan.paynow':
    'Abra o aplicativo do seu banco, escolha Scan & Pay e aponte a câmera para este código PayNow. Não altere o valor nem a referência.',
  'scan.epc':
    'Abra o aplicativo do seu banco, escolha ler um código de transferência e aponte a câmera para este código. Ele preenche a conta, o valor e a referência; não os altere.',
  'scan.swiss':
    'Abra o aplicativo do seu banco, escolha ler uma QR-fatura e aponte a câmera para este código. Ele preenche a conta, o valor e a referência; não os altere.',
  'scan.upi':
    'Abra qualquer aplicativo UPI, escolha ler um código e aponte a câmera para este código. Não altere o valor nem a nota.',
  samePhone: 'Vai pagar neste celular? Salve a imagem e abra-a no aplicativo do banco.',
  exactAmount:
    'Pague exatamente {amount}, até o último dígito. Seu pagamento é reconhecido por este valor; com outro não pode ser encontrado.',
  paymentCode: 'Código do pagamento',
  paymentCodeHow: 'Escreva este código na mensagem ou referência da transferência.',
  qrName: 'QR Code para pagar {amount}',
  saveImage: 'Salvar imagem',
  largerView: 'Ampliar',
  back: 'Voltar ao pagamento',
  backTo: 'Voltar a {agent}',
  transferTitle: 'Transfira para esta conta',
  orTransferTitle: 'Ou transfira para esta conta',
  transferHow: 'Transfira exatamente este valor, em uma única transferência.',
  payOnlineTitle: 'Pagar on-line',
  payOnlineHow:
    'Você paga na página da empresa de pagamentos. Esta página muda sozinha quando o pagamento chegar.',
  payOnline: 'Continuar para o pagamento',
  bank: 'Banco',
  openApp: 'Abrir o aplicativo {bank}',
  accountNumber: 'Número da conta',
  accountName: 'Titular da conta',
  copy: 'Copiar',
  copied: 'Copiado',
  help: 'Precisa de ajuda?',
  helpAgent: 'Fale com {agent} e informe a referência acima.',
  receipt: 'Recibo',
  print: 'Imprimir ou salvar',
  paidTo: 'Pago a',
  paidOn: 'Pago em',
  paidAmount: 'Valor pago',
  sandbox: 'Ambiente de testes: nenhum dinheiro real é movimentado.',
  sandboxTitle: 'Aqui você é o banco',
  sandboxHow: 'Escolha o que acontece com este pagamento de teste.',
  sandboxPay: 'Pagar {amount}',
  sandboxLess: 'Pagar menos: {amount}',
  sandboxMore: 'Pagar mais: {amount}',
  sandboxOther: 'Pagar de outra conta',
  sandboxFail: 'Deixar falhar',
  close: 'Fechar',
  offline: 'Sem conexão. Tentando de novo…',
  language: 'Idioma',
  'waiting.title': 'Aguardando seu pagamento',
  'waiting.money': 'Ainda não chegou dinheiro para este pagamento.',
  'waiting.next': 'Pague exatamente {amount}. Esta página muda sozinha quando o pagamento chegar.',
  'received.title': 'Seu pagamento está sendo verificado',
  'received.money': '{paid} chegou.',
  'received.next':
    'Não pague de novo. {agent} está verificando, e esta página mostrará o resultado.',
  'paid.title': 'Pago',
  'paid.money': '{paid} chegou a {agent}.',
  'paid.next': 'Não há mais nada a fazer. Guarde o recibo se precisar.',
  'expired.title': 'O prazo para pagar terminou',
  'expired.money': 'Não chegou dinheiro para este pagamento.',
  'expired.next':
    'Não pague mais com estes dados; inicie um novo pagamento em {agent}. Se você já pagou, não pague de novo: esta página muda sozinha quando o dinheiro chegar.',
  'failed.title': 'O pagamento falhou',
  'failed.money': 'Não chegou dinheiro para este pagamento.',
  'failed.next':
    'Inicie um novo pagamento em {agent}. Se o seu banco mostra que o dinheiro saiu, pergunte antes de pagar de novo.',
  'void.title': 'Este pagamento foi cancelado',
  'void.money': 'Não chegou dinheiro para este pagamento.',
  'void.next':
    'Não pague mais com estes dados. Se ainda quiser pagar, inicie um novo pagamento em {agent}.',
  'paid_late.title': 'Seu pagamento chegou tarde demais',
  'paid_late.money':
    '{paid} chegou depois do fim do prazo. O dinheiro está guardado, mas ainda não foi contado.',
  'paid_late.next':
    'Não pague de novo. {agent} decide se ele é contado ou devolvido, e esta página mostrará o resultado.',
  'wrong_amount.title': 'O valor não é o que foi pedido',
  'wrong_amount.money':
    'Chegou {paid} em vez de {amount}. O dinheiro está guardado, mas ainda não foi contado.',
  'wrong_amount.next':
    'Não pague de novo nem pague a diferença. {agent} decide se ele é contado ou devolvido, e esta página mostrará o resultado.',
  'taken_back.title': 'O pagamento foi retomado',
  'taken_back.money': 'Seu banco retomou {paid}, e {agent} não tem mais esse dinheiro.',
  'taken_back.next':
    'Se você não pediu isso, fale com o seu banco. Pergunte a {agent} antes de pagar de novo.',
  'returned.title': 'Seu dinheiro foi devolvido',
  'returned.money': '{paid} foi devolvido à conta de onde veio.',
  'returned.next':
    'Pode levar alguns dias para aparecer. Se ainda quiser pagar, inicie um novo pagamento em {agent}.',
  otherPayments: 'Outro pagamento',
  'other.waiting':
    'Chegou outro pagamento de {amount}. {agent} decide se ele é contado ou devolvido. Não pague de novo.',
  'other.credited': 'Chegou outro pagamento de {amount}, que foi creditado a {agent}.',
  'other.returned':
    'Um pagamento de {amount} foi devolvido à conta de onde veio. Pode levar alguns dias para aparecer.',
  'other.taken_back': 'Seu banco retomou outro pagamento de {amount}.',
  'notFound.title': 'Este link de pagamento não é válido',
  'notFound.text':
    'Verifique se o link está completo ou peça um novo a quem o enviou. Nada foi pago aqui.',
  'busy.title': 'Pedidos demais',
  'busy.text': 'Espere um momento e carregue esta página de novo. Seu pagamento não é afetado.',
  'trouble.title': 'Esta página não pode ser mostrada agora',
  'trouble.text':
    'Ela tenta de novo sozinha em alguns segundos. O que foi pago continua pago; não pague duas vezes.',
}
