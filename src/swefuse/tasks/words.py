"""The vocabulary of templates: names as people choose them, by what they name. None means something to Python already."""

from __future__ import annotations

import builtins
import keyword

WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(word for word in text.split() if not keyword.iskeyword(word) and word not in dir(builtins))
    for name, text in {
        "thing": """
            account address album answer appointment article asset badge basket batch bill booking branch budget bundle card cargo
            case channel claim client clip comment contract coupon course customer delivery deposit device discount document draft
            driver employee entry event expense export feature feed file flight form gallery game gift goal grant group guest image
            import incident invoice issue item job journal key label lesson letter level licence listing loan location log machine
            mail match meal meeting member memo message meter milestone module note notice offer option order packet page parcel
            parking part partner passenger patient payment permit person photo plan player playlist policy pool portal post price
            printer product profile project property proposal query question quote rating reading receipt recipe record refund
            region release reminder rental report request reservation resource result review ride role room route rule sale sample
            schedule score season section sensor server session shelf shift shipment shop signal slot snapshot speaker staff stage
            station step stock stop store story student subject supplier survey switch table tag target task team template tenant
            test theme thread ticket timer title token tool topic tour track trade train transfer trip unit update upload user
            vehicle vendor venue version video visit voice vote voucher wallet warehouse warning watch weight wheel widget window
            worker workshop zone
        """,
        "verb": """
            accept add adjust align allocate apply archive arrange assemble assign attach audit balance bind build cancel capture
            change charge check choose claim clean clear close collect combine compare compile compose compute confirm convert copy
            count create cut decide decode deliver derive describe detect divide draw drop edit emit encode enrol enter estimate
            evaluate examine exclude expand export extend extract fetch file fill filter find finish fix flag fold format gather
            generate get grade group handle hold import include index insert inspect issue join keep label limit link list load
            locate lock log make mark match measure merge mix move name note offer open order pack parse pass pick place plan post
            prepare price print process produce pull push queue quote raise rank rate read rebuild receive record reduce refresh
            register reject release remove rename render repair replace report request reserve reset resolve restore return review
            route run save scale scan schedule score search select send settle shape share show shrink sign skip slice sort split
            stage start stop store sum supply swap tally tag take tell test tidy tie total trace track trim turn update upload use
            validate verify view visit weigh wrap write
        """,
        "quality": """
            active annual approved archived available average basic blocked bright broken busy central certain checked chosen clean
            closed cold common complete current daily dark deep direct double early empty exact extra failed fast final fixed
            flat foreign free fresh full given global grand great half hard heavy hidden high inner junior known large last late
            lean light local long loose lost low main major manual medium minor missing mixed mobile modern narrow near new next
            noisy normal odd old open outer overdue own pending plain primary prime private public quick quiet rare raw ready
            recent regular related remote rich round safe secondary senior shallow sharp short single slow small smart smooth
            solid special spare stable stale standard static steep steady strict strong sunny tall tiny total true unique upper
            urgent usual valid vital warm weak weekly wide wild young
        """,
        "number": """
            amount area balance bound budget capacity charge cost count credit debt delay delta depth distance duration edge fee
            floor force gain gap grade height index interest length level limit load loss margin mass mileage minimum offset pace
            payload peak percent place points power pressure price profit quantity quota range rank rate ratio reach salary score
            share size slope span speed stake start stock strength sum supply tariff tax temperature threshold time toll total
            turnover value volume wage weight width yield_rate
        """,
        "text": """
            alias answer author body brand caption chapter city code colour comment company country currency description domain
            email extension field folder footer genre handle head hint host keyword label language letter line locale maker
            message model motto name nickname note phrase prefix publisher quote region remark root section sentence series sign
            slogan slug source state status street style suffix summary symbol tail term text theme title tone topic town unit
            username variant word
        """,
        "list": """
            answers arrivals batch blocks bookings boxes cells chain chunks clients elements entries events fields files found
            frames goods heap history inbox items jobs journal kept keys lines links marks members names nodes notes numbers
            orders outbox packets pages pairs parts path people picks pieces points pool queue readings records results rows
            samples scores sections series shelves slots stack steps stops stories tasks things tokens tracks trail values votes
            waiting weights words
        """,
        "person": """
            ada alan amina ben carla chen dara eli emma farah felix grace hana hugo ines ivan jamal jonas kai karin lena leo
            lina luca maya milo nadia nils noor olga omar paula pia quinn rafa rosa sami sara tariq tessa timo uma vera viktor
            wanda xenia yara yusuf zoe
        """,
    }.items()
}
