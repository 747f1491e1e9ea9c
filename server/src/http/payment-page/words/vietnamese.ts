import type { Words } from './english.ts'

export const vietnamese: Partial<Words> = {
  payTo: 'Thanh toán cho {agent}',
  paymentTo: 'Khoản thanh toán cho {agent}',
  reference: 'Mã tham chiếu',
  transaction: 'Mã giao dịch',
  amount: 'Số tiền',
  timeLeft: 'Thời gian còn lại',
  until: 'đến {time}',
  leftToPay: 'Còn {time} để thanh toán',
  scanTitle: 'Quét mã QR',
  scanHow:
    'Mở ứng dụng ngân hàng, chọn quét hoặc thanh toán bằng QR rồi hướng camera vào mã này. Nếu thanh toán trên chính điện thoại này, hãy lưu ảnh và mở ảnh trong ứng dụng ngân hàng.',
  'scan.promptpay':
    'Mở ứng dụng ngân hàng, chọn quét rồi hướng camera vào mã PromptPay này. Số tiền đã có sẵn trong mã; đừng thay đổi.',
  'scan.vietqr':
    'Mở ứng dụng ngân hàng, chọn quét mã QR rồi hướng camera vào mã VietQR này. Đừng thay đổi số tiền hay nội dung chuyển khoản.',
  'scan.pix':
    'Mở ứng dụng ngân hàng, chọn Pix rồi chọn thanh toán bằng mã QR và hướng camera vào mã này. Đừng thay đổi số tiền.',
  'scan.paynow':
    'Mở ứng dụng ngân hàng, chọn Scan & Pay rồi hướng camera vào mã PayNow này. Đừng thay đổi số tiền hay mã tham chiếu.',
  'scan.epc':
    'Mở ứng dụng ngân hàng, chọn quét mã để chuyển khoản rồi hướng camera vào mã này. Mã điền sẵn tài khoản, số tiền và mã tham chiếu; đừng thay đổi.',
  'scan.swiss':
    'Mở ứng dụng ngân hàng, chọn quét QR-bill rồi hướng camera vào mã này. Mã điền sẵn tài khoản, số tiền và mã tham chiếu; đừng thay đổi.',
  'scan.upi':
    'Mở ứng dụng UPI bất kỳ, chọn quét rồi hướng camera vào mã này. Đừng thay đổi số tiền hay ghi chú.',
  samePhone:
    'Nếu thanh toán trên chính điện thoại này, hãy lưu ảnh và mở ảnh trong ứng dụng ngân hàng.',
  exactAmount:
    'Hãy trả đúng {amount}, đến chữ số cuối cùng. Khoản thanh toán được nhận ra nhờ số tiền này, số tiền khác sẽ không tìm thấy.',
  paymentCode: 'Mã thanh toán',
  paymentCodeHow: 'Ghi mã này vào nội dung hoặc phần tham chiếu khi chuyển khoản.',
  qrName: 'Mã QR để thanh toán {amount}',
  saveImage: 'Lưu ảnh',
  largerView: 'Xem lớn hơn',
  back: 'Quay lại trang thanh toán',
  backTo: 'Quay lại {agent}',
  transferTitle: 'Chuyển khoản vào tài khoản này',
  orTransferTitle: 'Hoặc chuyển khoản vào tài khoản này',
  transferHow: 'Chuyển đúng số tiền này trong một lần.',
  payOnlineTitle: 'Thanh toán trực tuyến',
  payOnlineHow:
    'Bạn thanh toán trên trang của đơn vị thanh toán. Trang này tự thay đổi khi tiền của bạn đến.',
  payOnline: 'Tiếp tục thanh toán',
  bank: 'Ngân hàng',
  openApp: 'Mở ứng dụng {bank}',
  accountNumber: 'Số tài khoản',
  accountName: 'Tên tài khoản',
  copy: 'Sao chép',
  copied: 'Đã sao chép',
  help: 'Cần trợ giúp?',
  helpAgent: 'Hãy hỏi {agent} và cung cấp mã tham chiếu ở trên.',
  receipt: 'Biên nhận',
  print: 'In hoặc lưu',
  paidTo: 'Thanh toán cho',
  paidOn: 'Thời điểm thanh toán',
  paidAmount: 'Số tiền đã thanh toán',
  sandbox: 'Môi trường thử nghiệm: không có tiền thật được chuyển.',
  sandboxTitle: 'Ở đây bạn là ngân hàng',
  sandboxHow: 'Chọn điều sẽ xảy ra với khoản thanh toán thử này.',
  sandboxPay: 'Thanh toán {amount}',
  sandboxLess: 'Trả ít hơn: {amount}',
  sandboxMore: 'Trả nhiều hơn: {amount}',
  sandboxOther: 'Trả từ tài khoản khác',
  sandboxFail: 'Cho thất bại',
  close: 'Đóng',
  offline: 'Mất kết nối. Đang thử lại…',
  language: 'Ngôn ngữ',
  'waiting.title': 'Đang chờ bạn thanh toán',
  'waiting.money': 'Chưa có tiền nào được ghi nhận cho khoản này.',
  'waiting.next': 'Hãy trả đúng {amount}. Trang này tự thay đổi khi tiền của bạn đến.',
  'received.title': 'Khoản thanh toán đang được kiểm tra',
  'received.money': '{paid} đã đến.',
  'received.next': 'Đừng thanh toán lại. {agent} đang kiểm tra và trang này sẽ hiển thị kết quả.',
  'paid.title': 'Đã thanh toán',
  'paid.money': '{agent} đã nhận {paid}.',
  'paid.next': 'Bạn không cần làm gì thêm. Hãy giữ biên nhận nếu cần.',
  'expired.title': 'Đã hết thời gian thanh toán',
  'expired.money': 'Không có tiền nào được ghi nhận cho khoản này.',
  'expired.next':
    'Đừng dùng thông tin này để thanh toán nữa; hãy tạo khoản thanh toán mới tại {agent}. Nếu bạn đã trả rồi, đừng trả lại: trang này tự thay đổi khi tiền của bạn đến.',
  'failed.title': 'Thanh toán không thành công',
  'failed.money': 'Không có tiền nào được ghi nhận cho khoản này.',
  'failed.next':
    'Hãy tạo khoản thanh toán mới tại {agent}. Nếu ngân hàng báo tiền đã bị trừ, hãy hỏi trước khi trả lại.',
  'void.title': 'Khoản thanh toán này đã bị hủy',
  'void.money': 'Không có tiền nào được ghi nhận cho khoản này.',
  'void.next':
    'Đừng dùng thông tin này để thanh toán nữa. Nếu vẫn muốn trả, hãy tạo khoản thanh toán mới tại {agent}.',
  'paid_late.title': 'Tiền của bạn đến quá muộn',
  'paid_late.money': '{paid} đã đến sau khi hết thời gian. Tiền được giữ lại nhưng chưa được tính.',
  'paid_late.next':
    'Đừng thanh toán lại. {agent} sẽ quyết định ghi nhận hay hoàn trả, và trang này sẽ hiển thị kết quả.',
  'wrong_amount.title': 'Số tiền không đúng với yêu cầu',
  'wrong_amount.money': 'Đã nhận {paid} thay vì {amount}. Tiền được giữ lại nhưng chưa được tính.',
  'wrong_amount.next':
    'Đừng thanh toán lại và đừng trả phần chênh lệch. {agent} sẽ quyết định ghi nhận hay hoàn trả, và trang này sẽ hiển thị kết quả.',
  'taken_back.title': 'Khoản thanh toán đã bị thu hồi',
  'taken_back.money': 'Ngân hàng của bạn đã thu hồi {paid}, nên {agent} không còn giữ khoản này.',
  'taken_back.next':
    'Nếu bạn không yêu cầu việc này, hãy liên hệ ngân hàng của bạn. Hãy hỏi {agent} trước khi trả lại.',
  'returned.title': 'Tiền của bạn đã được hoàn trả',
  'returned.money': '{paid} đã được trả về tài khoản đã chuyển.',
  'returned.next':
    'Có thể mất vài ngày để tiền hiển thị. Nếu vẫn muốn trả, hãy tạo khoản thanh toán mới tại {agent}.',
  otherPayments: 'Một khoản thanh toán khác',
  'other.waiting':
    'Đã nhận thêm một khoản {amount}. {agent} sẽ quyết định ghi nhận hay hoàn trả. Đừng thanh toán lại.',
  'other.credited': 'Đã nhận thêm một khoản {amount} và đã ghi nhận cho {agent}.',
  'other.returned':
    'Khoản {amount} đã được hoàn trả về tài khoản đã chuyển. Có thể mất vài ngày mới hiển thị ở đó.',
  'other.taken_back': 'Ngân hàng của bạn đã thu hồi một khoản khác {amount}.',
  'notFound.title': 'Liên kết thanh toán này không hợp lệ',
  'notFound.text':
    'Hãy kiểm tra liên kết có đầy đủ không, hoặc xin liên kết mới từ người đã gửi. Chưa có khoản nào được thanh toán ở đây.',
  'busy.title': 'Quá nhiều yêu cầu',
  'busy.text':
    'Hãy đợi một lát rồi tải lại trang này. Khoản thanh toán của bạn không bị ảnh hưởng.',
  'trouble.title': 'Hiện không thể hiển thị trang này',
  'trouble.text':
    'Trang sẽ tự thử lại sau vài giây. Tiền đã trả vẫn được ghi nhận; đừng trả hai lần.',
}
