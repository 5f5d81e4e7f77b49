/** Texts that only several rooms need, as those in `texts`. */
export default {
  en: { rooms: {
    left: "Left out: nobody listens to this room here.", listen: "Listen", leave: "Leave out", "leave.sure": "This phone will not hear {name}, and no alarm will ring for it, until you tap “Listen”.",
    mute: "Mute {name}", unmute: "Hear {name}", open: "Show {name}", picture: "Sound only: this page shows {n} pictures at most.",
    sound: "Sound", all: "All rooms", loudest: "The loudest room, the others quieter", chosen: "Only rooms that I choose", "chosen.help": "Tap the speaker of a room. This phone remembers it.",
    alarms: "Alarms",
  } },
  de: { rooms: {
    left: "Ausgelassen: Hier hört niemand dieses Zimmer.", listen: "Zuhören", leave: "Auslassen", "leave.sure": "Dieses Telefon hört {name} nicht, und kein Alarm läutet dafür, bis Sie auf „Zuhören“ tippen.",
    mute: "{name} stumm schalten", unmute: "{name} hören", open: "{name} zeigen", picture: "Nur Ton: Diese Seite zeigt höchstens {n} Bilder.",
    sound: "Ton", all: "Alle Zimmer", loudest: "Das lauteste Zimmer, die anderen leiser", chosen: "Nur Zimmer, die ich auswähle", "chosen.help": "Tippen Sie auf den Lautsprecher eines Zimmers. Dieses Telefon merkt es sich.",
    alarms: "Alarme",
  } },
  ru: { rooms: {
    left: "Отключена: здесь эту комнату никто не слушает.", listen: "Слушать", leave: "Не слушать", "leave.sure": "Этот телефон не будет слышать «{name}», и тревога для этой комнаты не прозвучит, пока вы не нажмёте «Слушать».",
    mute: "Выключить звук: {name}", unmute: "Включить звук: {name}", open: "Показать: {name}", picture: "Только звук: эта страница показывает не больше {n} изображений.",
    sound: "Звук", all: "Все комнаты", loudest: "Самая громкая комната, остальные тише", chosen: "Только комнаты, которые я выберу", "chosen.help": "Нажмите на динамик комнаты. Этот телефон запомнит выбор.",
    alarms: "Тревоги",
  } },
  zh: { rooms: {
    left: "已排除：这里没有人在听这个房间。", listen: "收听", leave: "排除", "leave.sure": "在您点按“收听”之前，这部手机听不到{name}，也不会为它响起警报。",
    mute: "将{name}静音", unmute: "收听{name}", open: "显示{name}", picture: "只有声音：本页最多显示 {n} 个画面。",
    sound: "声音", all: "所有房间", loudest: "最响的房间，其他的较轻", chosen: "只听我选择的房间", "chosen.help": "点按房间的扬声器。这部手机会记住。",
    alarms: "警报",
  } },
};
